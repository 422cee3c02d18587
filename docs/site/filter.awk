# A page as Doxygen is to read it: headings get the names that GitHub gives them, behind the page's own, and links go to
# these names. What is not on the site is named in place of a link.
# usage: awk -f filter.awk PAGE.md
# "guide_waiting" for ".../docs/guide/waiting.md", also where the path goes up and down.
function page_name(path) {
  while (path ~ /[^\/]+\/\.\.\//) sub(/[^\/]+\/\.\.\//, "", path)
  if (!sub(/.*docs\//, "", path)) sub(/.*\//, "", path)
  sub(/\.md$/, "", path)
  gsub(/\//, "_", path)
  return tolower(path)
}
function heading_name(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}
# A link's target, in parentheses with what comes before it.
function target(link,   path, heading, folder) {
  path = link
  heading = ""
  folder = FILENAME
  sub(/[^\/]*$/, "", folder)
  if (link ~ /#/) {
    heading = link
    sub(/^[^#]*#/, "", heading)
    sub(/#.*/, "", path)
  }
  if (path ~ /lib\/.*README\.md$/) return "<tt>" path "</tt>"
  if (heading == "") return ""
  return "@ref " page_name(path == "" ? FILENAME : folder path) "_" heading
}
$0 == "```hip" { $0 = "```cpp" }  # to be coloured
/^```/ { in_code = !in_code }
!in_code && /^##+ / {
  heading = $0
  sub(/^#+ /, "", heading)
  print $0 " {#" page_name(FILENAME) "_" heading_name(heading) "}"
  next
}
!in_code {
  rest = $0
  line = ""
  while (match(rest, /\]\([^()]*\)/)) {
    link = substr(rest, RSTART + 2, RLENGTH - 3)
    if (link ~ /\.(svg|png)$/) sub(/.*\//, "", link)  # the site has images beside its pages
    to = link ~ /^https?:/ ? "" : target(link)
    line = line substr(rest, 1, RSTART)
    if (to ~ /^<tt>/)
      line = line " (" to ")"
    else
      line = line "(" (to == "" ? link : to) ")"
    rest = substr(rest, RSTART + RLENGTH)
  }
  print line rest
  next
}
{ print }
