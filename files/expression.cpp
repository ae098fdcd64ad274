#include <mortise/files/expression.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numbers>

#include <fmt/format.h>

#include <mortise/core/state.h>
#include <mortise/files/value.h>

namespace mortise::files {

// Recursive descent over the text; writes postfix code.
class Parser {
  using Code = Expression::Code;
  struct Function {
    std::string_view name;
    Code code;
    int arguments;
  };
  static constexpr std::array functions{
      Function{"sin", Code::sin, 1},     Function{"cos", Code::cos, 1},   Function{"tan", Code::tan, 1},
      Function{"asin", Code::asin, 1},   Function{"acos", Code::acos, 1}, Function{"atan", Code::atan, 1},
      Function{"atan2", Code::atan2, 2}, Function{"sqrt", Code::sqrt, 1}, Function{"exp", Code::exp, 1},
      Function{"log", Code::log, 1},     Function{"sinh", Code::sinh, 1}, Function{"cosh", Code::cosh, 1},
      Function{"tanh", Code::tanh, 1},   Function{"abs", Code::abs, 1},   Function{"min", Code::min, 2},
      Function{"max", Code::max, 2}};
  static constexpr std::size_t most_characters = 10'000, deepest = 64;

 public:
  Parser(std::string_view text, const Names& names) : text_(text), names_(names) {
    if (text.size() > most_characters)
      throw ExpressionError(0, fmt::format("the expression has {} characters", text.size()),
                            fmt::format("write at most {}", most_characters));
  }
  static std::vector<std::string> known_functions() {
    std::vector<std::string> names;
    for (const Function& f : functions) names.emplace_back(f.name);
    return names;
  }
  static std::string_view name_of(Code code) {
    for (const Function& f : functions)
      if (f.code == code) return f.name;
    return "";
  }

  Expression parse(std::string_view* unit) {
    sum();
    skip();
    if (at_ < text_.size()) {
      const char c = text_[at_];
      if (!unit || !(std::isalpha(static_cast<unsigned char>(c)) || c == '/'))
        error(at_, fmt::format("'{}' is not expected", c), "an operator or the end must follow");
      *unit = text_.substr(at_);
      while (unit->ends_with(' ')) unit->remove_suffix(1);
    } else if (unit) {
      *unit = {};
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void error(std::size_t at, const std::string& fact, const std::string& remedy) const {
    throw ExpressionError(at, fact, remedy);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.level_ > deepest)
        parser.error(parser.at_, fmt::format("brackets, signs or powers are nested more than {} deep", deepest),
                     "write it flatter");
    }
    ~Level() { --parser.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };

  void sum() {
    const Level level(*this);
    product();
    for (;;) {
      const std::size_t at = at_;
      if (take('+')) {
        product();
        emit(Code::add, 2, at);
      } else if (take('-')) {
        product();
        emit(Code::subtract, 2, at);
      } else {
        return;
      }
    }
  }
  void product() {
    factor();
    for (;;) {
      const std::size_t at = at_;
      if (take('*')) {
        factor();
        emit(Code::multiply, 2, at);
      } else if (take('/')) {
        factor();
        emit(Code::divide, 2, at);
      } else {
        return;
      }
    }
  }
  void factor() {  // a sign, then a power
    const Level level(*this);
    const std::size_t at = at_;
    if (take('-')) {
      factor();
      emit(Code::negate, 1, at);
    } else if (take('+')) {
      factor();
    } else {
      atom();
      const std::size_t sign = at_;
      if (take('^')) {
        factor();
        if (out_.ops_.back().code == Code::number) {
          const double exponent = out_.ops_.back().number;
          out_.ops_.pop_back();
          --stack_;
          emit(Code::power_by, 1, sign, exponent);
        } else {
          emit(Code::power, 2, sign);
        }
      }
    }
  }
  void atom() {
    skip();
    const std::size_t at = at_;
    if (at >= text_.size()) error(at, "the expression ends too early", "a number, a name or '(' must follow");
    const char c = text_[at];
    if (take('(')) {
      sum();
      if (!take(')')) error(at_, "a ')' is missing", fmt::format("the '(' stands at character {}", at + 1));
    } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '.') {
      double number = 0;
      const auto [end, status] = std::from_chars(text_.data() + at, text_.data() + text_.size(), number);
      if (status == std::errc::result_out_of_range)
        error(at, "the number does not fit into a double", "give one between 1e-300 and 1e300");
      if (status != std::errc()) error(at, fmt::format("'{}' begins no number", c), "write numbers as 1.5 or 2e-3");
      at_ = static_cast<std::size_t>(end - text_.data());
      push(Code::number, number, 0);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      name();
    } else {
      error(at, fmt::format("'{}' is not expected", c), "a number, a name or '(' must stand here");
    }
  }
  // body.coordinate' and the like are one name.
  void name() {
    const std::size_t at = at_;
    const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    while (at_ < text_.size() && inside(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '\'') ++at_;
    const std::string_view word = text_.substr(at, at_ - at);
    if (take('(')) {
      const auto f =
          std::find_if(functions.begin(), functions.end(), [&](const Function& x) { return x.name == word; });
      if (f == functions.end())
        error(at, fmt::format("there is no function '{}'", word), suggestion(word, known_functions()));
      for (int i = 0; i < f->arguments; ++i) {
        if (i > 0 && !take(','))
          error(at_, fmt::format("'{}' takes {} arguments", word, f->arguments), "a ',' must follow");
        sum();
      }
      if (!take(')'))
        error(at_, fmt::format("'{}' takes {} argument{}", word, f->arguments, f->arguments == 1 ? "" : "s"),
              "a ')' must follow");
      emit(f->code, f->arguments, at);
    } else if (word == "pi") {
      push(Code::number, std::numbers::pi, 0);
    } else if (const auto meaning = names_.find ? names_.find(word) : std::nullopt) {
      if (meaning->number)
        push(Code::number, *meaning->number, 0);
      else
        push(Code::variable, 0, meaning->variable);
    } else {
      const std::vector<std::string> known = names_.all ? names_.all() : std::vector<std::string>();
      error(at, fmt::format("'{}' is not known here", word),
            known.empty() ? "give a number, or name a parameter under [parameters]" : suggestion(word, known));
    }
  }

  void push(Code code, double number, int variable) {
    out_.ops_.push_back({code, number, variable});
    out_.depth_ = std::max(out_.depth_, ++stack_);
  }
  // Takes `arguments` from the stack and puts one on it; of numbers it is computed here.
  void emit(Code code, int arguments, std::size_t at, double number = 0) {
    const auto n = static_cast<std::size_t>(arguments);
    stack_ -= n - 1;
    auto& ops = out_.ops_;
    const bool known = ops.size() >= n && std::all_of(ops.end() - arguments, ops.end(),
                                                      [](const auto& op) { return op.code == Code::number; });
    ops.push_back({code, number, 0});
    if (!known) return;
    Expression small;
    small.ops_.assign(ops.end() - arguments - 1, ops.end());
    small.depth_ = n;
    const double x = small(std::vector<double>());
    if (!std::isfinite(x))
      error(at, fmt::format("this gives {}", x), "check for a division by 0 or a root of a negative number");
    ops.resize(ops.size() - n - 1);
    ops.push_back({Code::number, x, 0});
  }

  std::string_view text_;
  const Names& names_;
  Expression out_;
  std::size_t at_ = 0, level_ = 0, stack_ = 0;
};

std::vector<std::string> function_names() { return Parser::known_functions(); }

Expression Expression::parse(std::string_view text, const Names& names, std::string_view* unit) {
  return Parser(text, names).parse(unit);
}

std::optional<double> Expression::constant() const {
  if (ops_.size() != 1 || ops_[0].code != Code::number) return std::nullopt;
  return ops_[0].number;
}

Expression Expression::times(double factor) const {
  Expression out = *this;
  if (factor == 1) return out;
  if (constant()) return Expression(*constant() * factor);
  out.ops_.push_back({Code::number, factor, 0});
  out.ops_.push_back({Code::multiply, 0, 0});
  ++out.depth_;
  return out;
}

std::string Expression::text(const std::function<std::string(int)>& name) const {
  // Brackets only where they are needed, so that long sums do not nest deeper than they may be read.
  enum Binding { sum, product, sign, power, atom };
  struct Piece {
    std::string text;
    Binding binds;
    std::string at_least(Binding b) const { return binds >= b ? text : fmt::format("({})", text); }
  };
  std::vector<Piece> stack;
  const auto pop = [&] {
    Piece p = std::move(stack.back());
    stack.pop_back();
    return p;
  };
  const auto number = [](double x) -> Piece { return {fmt::format("{}", x), std::signbit(x) ? sign : atom}; };
  for (const Op& op : ops_) {
    const auto two = [&](const char* mark, Binding binds) {
      const Piece right = pop(), left = pop();
      stack.push_back(
          {fmt::format("{}{}{}", left.at_least(binds), mark, right.at_least(static_cast<Binding>(binds + 1))), binds});
    };
    if (op.code == Code::number) {
      stack.push_back(number(op.number));
    } else if (op.code == Code::variable) {
      stack.push_back({name(op.variable), atom});
    } else if (op.code == Code::negate) {
      stack.push_back({fmt::format("-{}", pop().at_least(power)), sign});
    } else if (op.code == Code::power_by) {
      stack.push_back({fmt::format("{}^{}", pop().at_least(atom), number(op.number).at_least(atom)), power});
    } else if (op.code == Code::power) {
      const Piece right = pop(), left = pop();
      stack.push_back({fmt::format("{}^{}", left.at_least(atom), right.at_least(atom)), power});
    } else if (op.code == Code::add) {
      two(" + ", sum);
    } else if (op.code == Code::subtract) {
      two(" - ", sum);
    } else if (op.code == Code::multiply) {
      two(" * ", product);
    } else if (op.code == Code::divide) {
      two(" / ", product);
    } else {
      const std::string last = pop().text;
      const bool first = op.code == Code::atan2 || op.code == Code::min || op.code == Code::max;
      stack.push_back({fmt::format("{}({}{})", Parser::name_of(op.code), first ? pop().text + ", " : "", last), atom});
    }
  }
  return stack.empty() ? "0" : stack.back().text;
}

}  // namespace mortise::files
