# Writes a C++ file that holds the page:  cmake -DPAGE=page.html -DOUT=page.cpp -P embed.cmake
file(READ ${PAGE} text)
string(FIND "${text}" ")mortise\"" found)
if(NOT found EQUAL -1)
  message(FATAL_ERROR "${PAGE} holds what ends its string: choose another end in embed.cmake")
endif()
file(WRITE ${OUT} "// Made from tools/page/dist/page.html.
#include \"page.h\"

namespace mortise {
namespace {
constexpr char text[] = R\"mortise(${text})mortise\";
}
std::string_view page_template() { return {text, sizeof text - 1}; }
}  // namespace mortise
")
