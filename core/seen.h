#pragma once
// Seen: what a part has asked of its bodies while their coordinates vary one or two at a time.
//
// Second derivatives ask again and again for the same points: where a body has nothing that varies, or the same as
// before, they are taken from here.  Kept by the coordinate that varies in time and the one that varies in direction.

#include <array>
#include <vector>

#include <mortise/core/view.h>

namespace mortise::detail {

class Seen {
 public:
  void look(const Access<Taylor>& a, Ask what, LocalVector r, Taylor* out);
  void push(const Access<Taylor>& a, LocalVector r, const Taylor* f);

 private:
  enum class What { point, direction, jacobian };
  struct Place {
    const Taylor* q;
    What what;
    std::array<double, 3> r;
    std::size_t numbers;  // of one entry
    std::vector<Taylor> values;
    std::vector<char> known;
  };
  // The place's numbers, and whether they are to be found yet; null: more varies than is kept.
  Taylor* find(const Access<Taylor>& a, What what, LocalVector r, std::size_t numbers, bool& known);

  std::vector<Place> places_;
};

}  // namespace mortise::detail
