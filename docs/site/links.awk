# Finds links that lead nowhere:  awk -f links.awk page.html ...   from the root of the site, names without "./".
# Looks at href and src of every page, at the files they name and at the places within pages.
FNR == 1 {
  folder = FILENAME
  if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
  known[FILENAME] = 1
}
{
  line = $0
  while (match(line, /[ \t](id|name)="[^"]*"/)) {
    word = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    gsub(/^[^"]*"|"$/, "", word)
    place[FILENAME "#" word] = 1
  }
  line = $0
  while (match(line, /[ \t](href|src)="[^"]*"/)) {
    word = substr(line, RSTART, RLENGTH)
    line = substr(line, RSTART + RLENGTH)
    gsub(/^[^"]*"|"$/, "", word)
    if (word ~ /^[a-z]+:/ || word == "" || word == "#") continue
    links[++count] = FILENAME "\t" folder "\t" word
  }
}
function resolved(folder, path,   parts, n, i, out, k) {
  n = split((folder == "" ? "" : folder "/") path, parts, "/")
  k = 0
  for (i = 1; i <= n; ++i) {
    if (parts[i] == "..") --k
    else if (parts[i] != "." && parts[i] != "") out[++k] = parts[i]
  }
  path = ""
  for (i = 1; i <= k; ++i) path = path (i > 1 ? "/" : "") out[i]
  return path
}
END {
  for (i = 1; i <= count; ++i) {
    split(links[i], part, "\t")
    anchor = ""
    path = part[3]
    if ((at = index(path, "#")) > 0) {
      anchor = substr(path, at + 1)
      path = substr(path, 1, at - 1)
    }
    sub(/\?.*/, "", path)
    target = path == "" ? part[1] : resolved(part[2], path)
    if (!(target in known) && !(target in there)) {
      there[target] = (getline text < target) >= 0
      close(target)
    }
    if (!(target in known) && !there[target]) print part[1] ": no file " part[3]
    # Doxygen links to a list of nested classes also where all of them are private, and it leaves the list out.
    else if (anchor != "" && anchor != "nested-classes" && (target in known) && !((target "#" anchor) in place)) print part[1] ": no place " part[3]
    else continue
    bad = 1
  }
  print count " links in " length_of(known) " pages" (bad ? "" : ", all lead somewhere") > "/dev/stderr"
  exit bad
}
function length_of(a,   n, k) { for (k in a) ++n; return n }
