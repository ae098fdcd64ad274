// mortise check: the rank report of a model, at its start or later.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>

#include <mortise/assembly/graph.h>

#include "commands.h"
#include "programs.h"

namespace mortise::command {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

}  // namespace

// Bodies as boxes and joints as rounded ones, in rows by their distance from the ground.
std::string graph_svg(const System& system) {
  struct Node {
    std::string name;
    bool joint;
    int row = -1, column = 0;
    std::vector<std::size_t> near = {};
  };
  std::vector<Node> nodes;
  std::vector<std::size_t> of_body;
  std::size_t ground = SIZE_MAX;
  for (const auto& b : system.bodies()) {
    if (b.size == 0 && ground != SIZE_MAX) {
      of_body.push_back(ground);
      continue;
    }
    if (b.size == 0) ground = nodes.size();
    of_body.push_back(nodes.size());
    nodes.push_back({b.size == 0 ? "ground" : b.name, false});
  }
  for (const auto& c : system.constraints()) {
    if (c.own) continue;
    const std::size_t joint = nodes.size();
    nodes.push_back({c.name, true});
    for (const std::size_t b : c.bodies) {
      nodes[joint].near.push_back(of_body[b]);
      nodes[of_body[b]].near.push_back(joint);
    }
  }
  std::vector<int> width;
  const auto spread = [&](std::size_t from) {
    std::deque<std::size_t> next{from};
    nodes[from].row = 0;
    while (!next.empty()) {
      Node& n = nodes[next.front()];
      next.pop_front();
      if (static_cast<std::size_t>(n.row) >= width.size()) width.resize(static_cast<std::size_t>(n.row) + 1);
      n.column = width[static_cast<std::size_t>(n.row)]++;
      for (const std::size_t k : n.near)
        if (nodes[k].row < 0) nodes[k].row = n.row + 1, next.push_back(k);
    }
  };
  if (ground != SIZE_MAX) spread(ground);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].row < 0) spread(i);
  std::size_t longest = 6;
  for (const Node& n : nodes) longest = std::max(longest, n.name.size());
  const int dx = static_cast<int>(longest) * 8 + 40, dy = 60;
  const int columns = width.empty() ? 1 : *std::max_element(width.begin(), width.end());
  const auto x = [&](const Node& n) {
    return dx * (columns - width[static_cast<std::size_t>(n.row)]) / 2 + dx * n.column + dx / 2;
  };
  const auto y = [&](const Node& n) { return dy * n.row + dy / 2; };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      dx * columns, dy * static_cast<int>(std::max<std::size_t>(width.size(), 1)), escaped(system.name()));
  for (const Node& n : nodes)
    if (n.joint)
      for (const std::size_t k : n.near)
        out += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#888888\"/>\n", x(n), y(n),
                           x(nodes[k]), y(nodes[k]));
  for (const Node& n : nodes) {
    const int w = static_cast<int>(n.name.size()) * 8 + 20;
    out += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"28\" rx=\"{}\" fill=\"{}\" stroke=\"#333333\"/>"
        "<text x=\"{}\" y=\"{}\" fill=\"#111111\">{}</text>\n",
        x(n) - w / 2, y(n) - 14, w, n.joint ? 14 : 2, n.joint ? "#dbeafe" : "#f3f4f6", x(n), y(n) + 5, escaped(n.name));
  }
  return out + "</svg>\n";
}

namespace {

void write_graph(const System& system, const RankReport& report, const std::string& path) {
  const std::string text = graphviz(system, report), dot = find_program("dot");
  if (path.ends_with(".dot")) return replace_file(path, text);
  if (dot.empty()) return replace_file(path, graph_svg(system));
  const std::string input = path + ".dot", picture = path + ".part";
  replace_file(input, text);
  const bool drawn = runs(dot, {"-Tsvg", "-o", picture, input});
  std::remove(input.c_str());
  if (!drawn || std::rename(picture.c_str(), path.c_str()) != 0) {
    std::remove(picture.c_str());
    Label{"file", path}.fail<FileError>("dot could not draw it", "check the folder, or give a name that ends in .dot");
  }
}

}  // namespace

int check(const CheckOptions& options) {
  Model model = read(options.source);
  model.complete = model.complete || options.complete;
  auto [system, s, completed] = ready(model);
  if (!options.json) std::fputs(completed.c_str(), stdout);
  if (options.at_given && options.at != s.t) {
    if (options.at < s.t)
      Label{"time", fmt::format("{}", options.at)}.fail<InvalidModel>(fmt::format("lies before the start at {} s", s.t),
                                                                      "give a later one");
    model.run.duration = options.at - s.t;
    model.run.sample = model.run.duration;
    const Trajectory way = simulate(system, s, model.run);
    if (!way.finished) {
      std::fputs(way.text().c_str(), stderr);
      return impossible;
    }
    s = way.last;
  }
  const RankReport report = diagnose(system, s);
  if (!options.graph.empty()) write_graph(system, report, options.graph);
  std::fputs((options.json ? report_json(report).text() : report.text({.colour = isatty(STDOUT_FILENO) != 0})).c_str(),
             stdout);
  const Status status = status_of(report);
  return status == healthy && !completed.empty() ? remarks : status;
}

}  // namespace mortise::command
