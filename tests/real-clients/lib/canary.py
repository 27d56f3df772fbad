"""Words that the scripted tools put into results and file contents, and nowhere else: no command,
path, prompt or final message holds one.  A tracer that keeps no results keeps none of them."""

OUTPUT = "canary-output-5b1e"                # printed by shell commands (content of canary.txt)
READ = "canary-read-9c47"                    # content of a file that is read
WRITTEN = "canary-written-27d0"              # content that is written, edited or patched
MCP = "canary-mcp-e3f8"                      # answered by the MCP server, in the second line: the first line of an error may stay
WEB = "canary-web-04aa"                      # answered by a web search
WORDS = [OUTPUT, READ, WRITTEN, MCP, WEB]

# Put together here, so that no scanner takes this file for a leak.  Typed into commands, and so to be masked.
SECRET = "ghp_" + "0123456789abcdef" + "GHIJKLMNOPQRSTUV" + "wxyz"


def key(prefix):
    """A model API key of the right shape and no worth."""
    return prefix + "0123456789abcdefGHIJKLMNOPQRSTUVwxyz" * 2


def plant(write):
    """write(path, text) puts the files into the demo project."""
    write("project/canary.txt", OUTPUT + "\n")
    write("project/README.md", "# Demo\nTODO: more\n" + READ + "\n")


SHOW = "cat canary.txt"                      # how a scripted command prints OUTPUT without naming it
