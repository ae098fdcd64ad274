#pragma once
// An XML file as a tree of elements that know where they stand and which of them were understood.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mortise/files/value.h>

namespace mortise::files {

// An element.  What is asked for by name counts as understood; unread() names the rest.
struct Xml {
  struct Attribute {
    std::string name, text;
    mutable bool read = false;
  };

  std::string name, text;  // the text between its tags, without the elements
  Where where;
  std::vector<Attribute> attributes;
  std::vector<Xml> children;
  mutable bool read = false;

  bool is(std::string_view n) const { return name == n; }
  // Null if there is none.
  const std::string* find(std::string_view attribute) const;
  const Xml* child(std::string_view n) const;  // the first of this name
  std::vector<const Xml*> all(std::string_view n) const;
  std::vector<const Xml*> all() const;  // all children
  void ignore() const;                  // it counts as understood with all that is in it

  // Numbers between blanks.  Throws ModelError, naming the element.
  std::optional<std::vector<double>> numbers(std::string_view attribute) const;
  std::vector<double> numbers(std::string_view attribute, std::size_t count) const;  // must be there
  double number(std::string_view attribute) const;                                   // must be there
  double number(std::string_view attribute, double otherwise) const;
  Vec3<double> three(std::string_view attribute, const Vec3<double>& otherwise) const;
  const std::string& require(std::string_view attribute) const;
  double text_number() const;
  std::vector<double> text_numbers() const;

  // "<gazebo> (3 times), effort of <limit> (12 times)": what nobody asked for, with the line of the first of each.
  std::vector<std::string> unread() const;
};

// Numbers between blanks, all finite; throws ModelError.  `what` is told in the message: "xyz of <origin>".
std::vector<double> numbers_in(const Where& where, const std::string& what, std::string_view text);

// Throws ModelError.
Xml parse_xml(const std::string& text, const std::string& name, const Limits& limits = {});

}  // namespace mortise::files
