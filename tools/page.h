#pragma once
// The page of tools/page/dist/page.html, embedded when the command is built.

#include <string_view>

namespace mortise {

std::string_view page_template();

}  // namespace mortise
