# include <boost/graph/graph_traits.hpp>
