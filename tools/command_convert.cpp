// mortise convert: a model, of whatever kind of file, as a model file.

#include <mortise/files/model.h>

#include "commands.h"

namespace mortise::command {

int convert(const ConvertOptions& options) {
  if (!options.out.empty()) require_writable(options.out);
  const Model model = read(options.source);
  require_apart(model.files, {{"-o", options.out}}, options.force);
  const std::string text = write_model(model);
  if (options.out.empty())
    put(text);
  else
    replace_file(options.out, text);
  return model.remarks.empty() ? healthy : remarks;
}

}  // namespace mortise::command
