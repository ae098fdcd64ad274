#include <mortise/files/urdf_loops.h>

#include <cctype>
#include <cstring>
#include <map>

#include <mortise/core/words.h>

namespace mortise::files {
namespace {

using Text = std::string;

// "key: value" where values are words and lists in brackets, over several lines where brackets are open.
class Reader {
 public:
  Reader(const Text& text, const Text& name) : text_(text), file_(std::make_shared<const Text>(name)) {}

  // Pairs of a key and its value; lists stay lists.
  std::vector<Value::Entry> read() {
    std::vector<Value::Entry> out;
    for (skip(true); at_ < text_.size(); skip(true)) {
      const Where where = here();
      const Text key = word();
      skip(false);
      if (at_ >= text_.size() || text_[at_] != ':')
        fail(where, fmt::format("'{}' has no value", key), "write key: value");
      ++at_;
      skip(true);
      out.push_back({key, where, value(0)});
    }
    return out;
  }

 private:
  Where here() const { return {file_, line_, 1}; }
  void skip(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '#')
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
      else if (c == '\n' && lines)
        ++line_;
      else if (c == '-' && text_.compare(at_, 3, "---") == 0)
        at_ += 2;
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
    }
  }
  Text word() {
    Text out;
    if (const char quote = text_[at_]; quote == '\'' || quote == '"') {
      const auto end = text_.find(quote, at_ + 1);
      if (end == Text::npos) fail(here(), "a text does not end", "close its quotes");
      out = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return out;
    }
    const auto in_word = [](char c) {
      return !std::isspace(static_cast<unsigned char>(c)) && !std::strchr(",:[]{}#", c);
    };
    while (at_ < text_.size() && in_word(text_[at_])) out += text_[at_++];
    if (out.empty()) fail(here(), fmt::format("'{}' is not expected here", text_[at_]), "write key: [value, ...]");
    return out;
  }
  Value value(int depth) {
    Value v;
    v.where = here();
    if (at_ >= text_.size()) fail(v.where, "a value is missing", "");
    if (text_[at_] != '[') {
      v.kind = Value::Kind::text;
      v.text = word();
      return v;
    }
    if (depth > 8) fail(v.where, "lists are nested too deeply", "");
    v.kind = Value::Kind::list;
    ++at_;
    for (skip(true);; skip(true)) {
      if (at_ >= text_.size()) fail(v.where, "a list does not end", "close it by ]");
      if (text_[at_] == ']') break;
      v.list.push_back(value(depth + 1));
      skip(true);
      if (at_ < text_.size() && text_[at_] == ',') ++at_;
    }
    ++at_;
    return v;
  }

  const Text& text_;
  std::shared_ptr<const Text> file_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

void add_loops(Robot& robot, const Text& text, const Text& name) {
  robot.attempt({"loops", name}, [&] {
    const std::vector<Value::Entry> entries = Reader(text, name).read();
    const Value *pairs = nullptr, *types = nullptr;
    for (const Value::Entry& e : entries) {
      if (e.key == "closed_loop")
        pairs = &e.value;
      else if (e.key == "type")
        types = &e.value;
      else
        robot.remarks.push_back(fmt::format("not read: {} of {} (line {})", e.key, name, e.where.line));
    }
    if (!pairs) return;
    if (types && (!types->is(Value::Kind::list) || types->list.size() != pairs->list.size()))
      fail(types->where, fmt::format("there are {} types for {} loops", types->list.size(), pairs->list.size()),
           "give one for each");
    for (std::size_t i = 0; i < pairs->list.size(); ++i) {
      const Value& pair = pairs->list[i];
      RobotJoint j;
      j.name = fmt::format("closed_loop_{}", i + 1);
      j.where = pair.where;
      j.loop = true;
      robot.attempt({"joint", j.name}, [&] {
        if (pair.list.size() != 2) fail(pair.where, fmt::format("a loop has {} frames", pair.list.size()), "give two");
        const auto link = [&](const Value& frame) -> Text {
          for (const RobotLink& l : robot.links)
            if (l.name == frame.text) return l.name;
          for (const RobotJoint& other : robot.joints)
            if (other.name == frame.text) return other.child;
          std::vector<Text> known;
          for (const RobotLink& l : robot.links) known.push_back(l.name);
          fail(frame.where, fmt::format("there is no link or joint '{}'", frame.text), suggestion(frame.text, known));
        };
        j.parent = link(pair.list[0]);
        j.child = link(pair.list[1]);
        const Text type = types ? types->list[i].text : "6d";
        if (type == "6d" || type == "6D")
          j.kind = RobotJoint::Kind::fixed;
        else if (type == "3d" || type == "3D")
          j.kind = RobotJoint::Kind::spherical;
        else
          fail(types->list[i].where, fmt::format("there is no type of loop '{}'", type), "give 6d or 3d");
        robot.joints.push_back(j);
      });
    }
  });
}

}  // namespace mortise::files
