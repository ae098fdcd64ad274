# Makes the comments of this code readable for Doxygen:  awk -f comments.awk header.h
#
#   the block after #pragma once     tells of the file, and of its main type, named as the file: pin.h has Pin
#   // above something               tells of it
#   // behind something              tells of it
#
# Lines that stand further in are shown as they are: equations and code.  Every line stays where it is, so that links to
# lines of the source lead there; what tells of the file comes after its last line.
BEGIN {
  file = ARGV[1]
  name = file
  gsub(/.*\/|\.[a-z]+$/, "", name)
  n = split(name, words, "_")
  type = ""
  for (i = 1; i <= n; ++i) type = type toupper(substr(words[i], 1, 1)) substr(words[i], 2)
  while ((getline line < file) > 0)
    if (line ~ ("^ *(template <[^;]*> *)?(struct|class) " type "( |\\{|$)") && line !~ /;$/) keyword = line ~ /struct / ? "struct" : "class"
  close(file)
}
# One line of text, without its //.
function told(text) {
  if (text ~ /^   /) return "    " text  # shown as it is
  gsub(/[\\@]/, "\\\\&", text)
  gsub(/</, "\\\\<", text)
  gsub(/>/, "\\\\>", text)
  gsub(/#/, "\\\\#", text)
  gsub(/%/, "%%", text)
  return text
}
/^#pragma once/ { print; header = 1; next }
header && /^\/\// {
  text = $0
  sub(/^\/\//, "", text)
  if (text ~ /^   / && !shown) block = block "\n"
  shown = text ~ /^   /
  block = block told(text) "\n"
  print ""
  next
}
header { header = 0 }
/^ *\/\/ / {
  text = $0
  at = index(text, "//")
  print substr(text, 1, at - 1) "///" told(substr(text, at + 2))
  next
}
# Behind a declaration; not a link in a string.
/[;,{}] *\/\/ / && !/"[^"]*\/\/[^"]*"/ {
  at = match($0, / *\/\/ [^\/]*$/)
  if (at > 0 && $0 !~ /^ *(for|if|while|return|else|\}|case) /) {
    rest = substr($0, at)
    sub(/^ *\/\//, "", rest)
    print substr($0, 1, at - 1) "  ///<" told(rest)
    next
  }
}
{ print }
END {
  if (block == "") exit
  print "/*! \\file\n" block "*/"
  if (keyword != "") print "/*! \\" keyword " mortise::" type "\n" block "*/"
}
