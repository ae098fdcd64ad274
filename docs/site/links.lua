-- Links of the pages in the repository become links of the site: to pages where there are, else to copies of files.
-- The folder of the page that is read comes in the variable folder ("" or "docs").  Files that are linked to are
-- written down, one per line, in the file named by the variable files.
local folder = os.getenv("SITE_FOLDER") or ""
local list = os.getenv("SITE_FILES")

local function within(path)  -- "docs" and "../LICENSE" -> "LICENSE"
  local parts = {}
  for part in ((folder == "" and "" or folder .. "/") .. path):gmatch("[^/]+") do
    if part == ".." then table.remove(parts) elseif part ~= "." then parts[#parts + 1] = part end
  end
  return table.concat(parts, "/")
end

local function site(target)
  if target:match("^%a+:") or target:match("^#") or target == "" then return target end
  local path, anchor = target:match("^([^#]*)(#?.*)$")
  path = within(path)
  if path:match("%.md$") and not path:match("/.*/") and (path:match("^docs/") or not path:match("/")) then
    local name = path:match("([^/]+)%.md$")
    return (name == "README" and "index" or name) .. ".html" .. anchor
  end
  local out = io.open(list, "a")
  out:write(path .. "\n")
  out:close()
  return "files/" .. path .. (path:match("%.%w+$") and "" or ".txt")
end

function Link(link) link.target = site(link.target) return link end
function Image(image)
  if not image.src:match("^%a+:") then image.src = site(image.src) end
  return image
end
