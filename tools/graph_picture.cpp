#include "graph_picture.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

#include "markup.h"
#include "view.h"

namespace mortise {
namespace {

struct Node {
  std::string name;
  enum Kind { ground, body, joint, force } kind;
  std::vector<std::size_t> near = {};
  std::size_t row = unplaced;
  double x = 0;

  static constexpr std::size_t unplaced = SIZE_MAX;
};

std::vector<Node> nodes_of(const System& system) {
  std::vector<Node> nodes;
  std::vector<std::size_t> of_body;
  std::size_t ground = Node::unplaced;
  for (const auto& b : system.bodies()) {
    const bool fixed = b.size == 0;
    if (!fixed || ground == Node::unplaced) {
      if (fixed) ground = nodes.size();
      nodes.push_back({b.name, fixed ? Node::ground : Node::body});
    }
    of_body.push_back(fixed ? ground : nodes.size() - 1);
  }
  const auto add = [&](const std::string& name, Node::Kind kind, const std::vector<std::size_t>& bodies) {
    const std::size_t here = nodes.size();
    nodes.push_back({name, kind});
    for (const std::size_t b : std::set<std::size_t>(bodies.begin(), bodies.end())) {
      nodes[here].near.push_back(of_body[b]);
      nodes[of_body[b]].near.push_back(here);
    }
  };
  for (const auto& c : system.constraints())
    if (!c.own) add(c.name, Node::joint, c.bodies);
  for (const auto& f : system.forces()) add(f.name, Node::force, f.bodies);
  return nodes;
}

// Rows by the distance from the ground; what does not hang on it begins a new tree beside.  Every edge joins two rows
// that follow each other, so that none passes through a third node.
std::vector<std::vector<std::size_t>> rows_of(std::vector<Node>& nodes) {
  std::vector<std::vector<std::size_t>> rows;
  const auto spread = [&](std::size_t from) {
    std::deque<std::size_t> next{from};
    nodes[from].row = 0;
    while (!next.empty()) {
      const std::size_t i = next.front();
      next.pop_front();
      if (nodes[i].row >= rows.size()) rows.resize(nodes[i].row + 1);
      rows[nodes[i].row].push_back(i);
      for (const std::size_t k : nodes[i].near)
        if (nodes[k].row == Node::unplaced) nodes[k].row = nodes[i].row + 1, next.push_back(k);
    }
  };
  for (const bool grounds : {true, false})
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].row == Node::unplaced && (nodes[i].kind == Node::ground) == grounds) spread(i);
  return rows;
}

constexpr double letter = 7.2, gap = 22, height = 28, row_height = 56, margin = 20, line_height = 17;  // [px]
double width_of(const Node& n) { return letter * static_cast<double>(n.name.size()) + 24; }

// Places the nodes of each row beside each other, near the middle of their neighbours; returns the width of the widest.
double place(std::vector<Node>& nodes, std::vector<std::vector<std::size_t>>& rows) {
  double widest = 0;
  const auto length = [&](const std::vector<std::size_t>& row) {
    return std::accumulate(row.begin(), row.end(), -gap,
                           [&](double s, std::size_t i) { return s + width_of(nodes[i]) + gap; });
  };
  for (const auto& row : rows) widest = std::max(widest, length(row));
  constexpr int sweeps = 8;
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (auto& row : rows) {
      if (sweep > 0) {
        std::map<std::size_t, double> middle;
        for (const std::size_t i : row) {
          double sum = 0;
          for (const std::size_t k : nodes[i].near) sum += nodes[k].x;
          middle[i] = nodes[i].near.empty() ? nodes[i].x : sum / static_cast<double>(nodes[i].near.size());
        }
        std::stable_sort(row.begin(), row.end(), [&](std::size_t a, std::size_t b) { return middle[a] < middle[b]; });
      }
      double x = (widest - length(row)) / 2;
      for (const std::size_t i : row) {
        nodes[i].x = x + width_of(nodes[i]) / 2;
        x += width_of(nodes[i]) + gap;
      }
    }
  return widest;
}

struct Colour {
  const char *line, *fill;
};
Colour colour_of(const std::string& kind) {  // those of the page of a run
  if (kind == "free") return {"#d9780f", "#fdebd3"};
  if (kind == "redundant") return {"#8a3ffc", "#ece1ff"};
  if (kind == "conflicting") return {"#d1242f", "#ffdcdf"};
  return {"#6a737d", "#eef0f2"};
}
Colour colour_of(Node::Kind kind) {
  switch (kind) {
    case Node::ground:
      return {"#57606a", "#d0d7de"};
    case Node::joint:
      return {"#5b7fb5", "#eef4ff"};
    case Node::force:
      return {"#2a8c68", "#ecf8f3"};
    case Node::body:
      break;
  }
  return {"#57606a", "#ffffff"};
}

std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines{""};
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > most) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    from = end + 1;
  }
  return lines;
}

}  // namespace

std::string graph_picture(const System& system, const RankReport& report) {
  std::vector<Node> nodes = nodes_of(system);
  std::vector<std::vector<std::size_t>> rows = rows_of(nodes);
  const double graph_width = place(nodes, rows);

  ViewOptions told;
  show_report(told, system, report);
  std::map<std::string, std::string> kinds;  // by name, the worst finding last
  std::set<std::pair<std::string, std::string>> bold;
  for (const RedundantRow& r : report.redundant) {
    for (const std::string& joint : r.joints) kinds.try_emplace(joint, "redundant");
    for (std::size_t i = 0; i + 1 < r.loop.size(); i += 2)
      for (const std::string& body : {r.loop[i + 1], r.loop[i == 0 ? r.loop.size() - 1 : i - 1]})
        bold.insert({r.loop[i], body});
  }
  for (const char* kind : {"redundant", "free", "conflicting"})
    for (const Highlight& h : told.highlights)
      if (h.kind == kind)
        for (const auto* names : {&h.bodies, &h.joints})
          for (const std::string& name : *names) kinds[name] = kind;

  constexpr double least = 660, head = 2 * line_height + 10;
  const double width = std::max(graph_width, least) + 2 * margin, left = (width - graph_width) / 2;
  constexpr double text_letter = 6.7;  // [px] on average
  const auto letters = static_cast<std::size_t>((width - 2 * margin - 12) / text_letter);
  double y = margin;
  std::string out;
  const auto text = [&](double x, double at, const char* colour, const std::string& more, const std::string& words) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\"{}>{}</text>\n", x, at, colour, more,
                       escaped_markup(words));
  };
  text(margin, y + 12, "#1f2328", " font-weight=\"bold\" font-size=\"15\"", system.name());
  for (const std::string& line : wrapped(report.verdict(), letters))
    text(margin, (y += line_height) + 14, report.ok() ? "#1a7f37" : "#b35900", "", line);
  y += head - line_height;

  const auto row_y = [&](const Node& n) { return y + height / 2 + row_height * static_cast<double>(n.row); };
  for (const Node& n : nodes)
    if (n.kind == Node::joint || n.kind == Node::force)
      for (const std::size_t k : n.near) {
        const bool in_loop = bold.count({n.name, nodes[k].name}) > 0;
        const auto kind = kinds.find(n.name);
        out += fmt::format(
            "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{}/>\n",
            left + n.x, row_y(n), left + nodes[k].x, row_y(nodes[k]),
            in_loop && kind != kinds.end() ? colour_of(kind->second).line : "#8c959f", in_loop ? 3.5 : 1.2,
            n.kind == Node::force ? " stroke-dasharray=\"5 4\"" : "");
      }
  for (const Node& n : nodes) {
    const auto kind = kinds.find(n.name);
    const Colour c = kind == kinds.end() ? colour_of(n.kind) : colour_of(kind->second);
    const bool round = n.kind == Node::joint || n.kind == Node::force;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" rx=\"{}\" fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"{}\"{}/>",
        left + n.x - width_of(n) / 2, row_y(n) - height / 2, width_of(n), height, round ? 14 : 3, c.fill, c.line,
        kind == kinds.end() ? 1.2 : 2.2, n.kind == Node::force ? " stroke-dasharray=\"5 4\"" : "");
    text(left + n.x, row_y(n) + 4.5, "#1f2328", " text-anchor=\"middle\"", n.name);
  }
  y += rows.empty() ? 0 : row_height * static_cast<double>(rows.size() - 1) + height;

  for (const Highlight& h : told.highlights) {
    y += 14;
    const Colour c = colour_of(h.kind);
    const std::vector<std::string> lines = wrapped(h.text, letters);
    const double tall = line_height * static_cast<double>(lines.size() + 1) + 6;
    out += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"4\" height=\"{:.1f}\" fill=\"{}\"/>\n", margin, y, tall,
                       c.line);
    text(margin + 12, y + 14, c.line, " font-weight=\"bold\"",
         h.kind == "free"     ? "free direction"
         : h.kind == "remark" ? h.kind
                              : h.kind + " row");
    for (std::size_t i = 0; i < lines.size(); ++i)
      text(margin + 12, y + 14 + line_height * static_cast<double>(i + 1), "#1f2328", "", lines[i]);
    y += tall;
  }
  y += margin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"DejaVu Sans, Verdana, sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#ffffff\"/>\n{3}</svg>\n",
      width, y, escaped_markup(system.name()), out);
}

}  // namespace mortise
