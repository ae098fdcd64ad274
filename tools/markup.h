#pragma once
// Text made safe for what it is put into: XML and HTML, or JSON inside an HTML page.

#include <string>
#include <string_view>

namespace mortise {

// & < > " ' as entities; control characters and bytes that are no UTF-8 as U+FFFD.
std::string escaped_markup(std::string_view text);

// A JSON string with its quotes.  '<' is escaped too, so that it cannot end a <script>.
std::string json_string(std::string_view text);

// Bytes in base64.
std::string base64(const void* data, std::size_t size);

}  // namespace mortise
