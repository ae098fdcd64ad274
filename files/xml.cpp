#include <mortise/files/xml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <tinyxml2.h>

#include <mortise/core/words.h>

namespace mortise::files {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

}  // namespace

std::vector<double> numbers_in(const Where& where, const std::string& what, std::string_view text) {
  std::vector<double> out;
  for (std::size_t i = 0; i < text.size();) {
    if (blank(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && !blank(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i), digits = word.starts_with('+') ? word.substr(1) : word;
    double x = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
    if (error != std::errc() || rest != digits.data() + digits.size())
      fail(where, fmt::format("{}: '{}' is not a number", what, word),
           word.find_first_of("$") != word.npos ? "expand the file by xacro first" : "write numbers between blanks");
    if (!std::isfinite(x)) fail(where, fmt::format("{} is {}", what, word), "give finite numbers");
    out.push_back(x);
    i = end;
  }
  return out;
}

const std::string* Xml::find(std::string_view attribute) const {
  for (const Attribute& a : attributes)
    if (a.name == attribute) {
      a.read = true;
      return &a.text;
    }
  return nullptr;
}
const Xml* Xml::child(std::string_view n) const {
  for (const Xml& c : children)
    if (c.name == n) {
      c.read = true;
      return &c;
    }
  return nullptr;
}
std::vector<const Xml*> Xml::all(std::string_view n) const {
  std::vector<const Xml*> out;
  for (const Xml& c : children)
    if (c.name == n) {
      c.read = true;
      out.push_back(&c);
    }
  return out;
}
std::vector<const Xml*> Xml::all() const {
  std::vector<const Xml*> out;
  for (const Xml& c : children) out.push_back(&c);
  return out;
}
void Xml::ignore() const {
  read = true;
  for (const Attribute& a : attributes) a.read = true;
  for (const Xml& c : children) c.ignore();
}

std::optional<std::vector<double>> Xml::numbers(std::string_view attribute) const {
  const std::string* given = find(attribute);
  if (!given) return std::nullopt;
  return numbers_in(where, fmt::format("{} of <{}>", attribute, name), *given);
}
std::vector<double> Xml::numbers(std::string_view attribute, std::size_t count) const {
  std::vector<double> x = numbers_in(where, fmt::format("{} of <{}>", attribute, name), require(attribute));
  if (x.size() != count)
    fail(where, fmt::format("{} of <{}> has {}", attribute, name, counted(std::ssize(x), "number")),
         fmt::format("give {}", count));
  return x;
}
double Xml::number(std::string_view attribute) const { return numbers(attribute, 1)[0]; }
double Xml::number(std::string_view attribute, double otherwise) const {
  return find(attribute) ? number(attribute) : otherwise;
}
Vec3<double> Xml::three(std::string_view attribute, const Vec3<double>& otherwise) const {
  if (!find(attribute)) return otherwise;
  const std::vector<double> x = numbers(attribute, 3);
  return {x[0], x[1], x[2]};
}
const std::string& Xml::require(std::string_view attribute) const {
  const std::string* given = find(attribute);
  if (!given) fail(where, fmt::format("<{}> has no {}", name, attribute), fmt::format("give {}=\"...\"", attribute));
  return *given;
}
std::vector<double> Xml::text_numbers() const { return numbers_in(where, fmt::format("<{}>", name), text); }
double Xml::text_number() const {
  const std::vector<double> x = text_numbers();
  if (x.size() != 1) fail(where, fmt::format("<{}> has {}", name, counted(std::ssize(x), "number")), "give one number");
  return x[0];
}

namespace {
struct Unread {
  int count = 0;
  int line = 0;
};
void gather(const Xml& x, std::map<std::string, Unread>& found) {
  const auto note = [&](const std::string& what) {
    Unread& u = found[what];
    if (u.count++ == 0) u.line = x.where.line;
  };
  if (!x.read) return note(fmt::format("<{}>", x.name));
  for (const Xml::Attribute& a : x.attributes)
    if (!a.read && !a.name.starts_with("xmlns")) note(fmt::format("{} of <{}>", a.name, x.name));
  for (const Xml& c : x.children) gather(c, found);
}
}  // namespace

std::vector<std::string> Xml::unread() const {
  std::map<std::string, Unread> found;
  gather(*this, found);
  std::vector<std::string> out;
  for (const auto& [what, u] : found)
    out.push_back(u.count > 1 ? fmt::format("{} ({} times, first in line {})", what, u.count, u.line)
                              : fmt::format("{} (line {})", what, u.line));
  return out;
}

namespace {

struct Copy {
  const std::shared_ptr<const std::string>& file;
  const Limits& limits;
  std::size_t elements = 0;

  Xml operator()(const tinyxml2::XMLElement& from) {
    Xml out;
    out.where = {file, from.GetLineNum(), 1};
    if (++elements > limits.values)
      fail(out.where, fmt::format("the file has more than {} elements", limits.values), "divide it");
    out.name = from.Name();
    for (auto* a = from.FirstAttribute(); a; a = a->Next()) out.attributes.push_back({a->Name(), a->Value()});
    for (auto* n = from.FirstChild(); n; n = n->NextSibling()) {
      if (const auto* element = n->ToElement())
        out.children.push_back((*this)(*element));
      else if (const auto* text = n->ToText())
        out.text += text->Value();
    }
    return out;
  }
};

}  // namespace

Xml parse_xml(const std::string& text, const std::string& name, const Limits& limits) {
  const auto file = std::make_shared<const std::string>(name);
  if (text.size() > limits.bytes)
    fail({file, 1, 1}, fmt::format("the file has {} bytes, more than {}", text.size(), limits.bytes), "divide it");
  tinyxml2::XMLDocument document;
  if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
    const int line = std::max(1, document.ErrorLineNum());
    const std::string reason = tinyxml2::XMLDocument::ErrorIDToName(document.ErrorID());
    static const std::map<std::string, std::pair<const char*, const char*>> words{
        {"XML_ERROR_EMPTY_DOCUMENT", {"the file is empty", "write a model"}},
        {"XML_ERROR_MISMATCHED_ELEMENT", {"an end tag does not belong to the open element", "close what is open"}},
        {"XML_ERROR_PARSING_ATTRIBUTE", {"an attribute cannot be read", "write name=\"text\", each name once"}},
        {"XML_ERROR_PARSING_ELEMENT", {"an element cannot be read", "check its tags"}},
        {"XML_ERROR_PARSING_TEXT", {"the text of an element does not end", "close the element"}},
        {"XML_ERROR_PARSING_COMMENT", {"a comment does not end", "close it by -->"}},
        {"XML_ELEMENT_DEPTH_EXCEEDED", {"elements are nested more than 100 deep", "write it flatter"}}};
    const auto it = words.find(reason);
    fail({file, line, 1}, it == words.end() ? "this is no XML (" + reason + ")" : std::string(it->second.first),
         it == words.end() ? "" : it->second.second);
  }
  const auto* root = document.RootElement();
  if (!root) fail({file, 1, 1}, "the file has no element", "write a model");
  Copy copy{file, limits};
  Xml out = copy(*root);
  out.read = true;
  return out;
}

}  // namespace mortise::files
