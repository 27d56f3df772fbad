//! Files that are read, changed and searched, and the language server.

use super::declare;

declare! { FILE_ATTRIBUTES
    /// Holds the path of the first file.
    FILE_PATH = "filePath": String, Metadata, [CALLS, INSTRUCTIONS_LOADED, CONTEXT_SAVED, FILE_CHANGED];
    /// Holds the same path relative to the working directory or project.
    REL_PATH = "relPath": String, Metadata, [CALLS, INSTRUCTIONS_LOADED, CONTEXT_SAVED, FILE_CHANGED];
    /// Numbers the first line that is read.
    READ_OFFSET = "readOffset": Integer(LineNumber), Metadata, [CALLS];
    /// Limits the lines that are read.
    READ_LIMIT = "readLimit": Integer(Lines), Metadata, [CALLS];
    /// Names the pages that are read.
    READ_PAGES = "readPages": String, Metadata, [CALLS];
    /// Counts all lines of the file that was read.
    FILE_LINES = "fileLines": Integer(Lines), Metadata, [CALLS];
    /// Measures the content that is written.
    CONTENT_BYTES = "contentBytes": Integer(Bytes), Metadata, [CALLS];
    /// Counts the lines that are written.
    CONTENT_LINES = "contentLines": Integer(Lines), Metadata, [CALLS];
    /// Counts the lines that were added.
    LINES_ADDED = "linesAdded": Integer(Lines), Metadata, [CALLS, ACCOUNT];
    /// Counts the lines that were removed.
    LINES_REMOVED = "linesRemoved": Integer(Lines), Metadata, [CALLS, ACCOUNT];
    /// Marks an edit that replaces every occurrence.
    EDIT_REPLACE_ALL = "editReplaceAll": Boolean, Metadata, [CALLS];
    /// Counts the edits of one call.
    EDIT_COUNT = "editCount": Integer(Items), Metadata, [CALLS];
    /// Names the cell of a notebook.
    NOTEBOOK_CELL_ID = "notebookCellId": String, Metadata, [CALLS];
    /// Names the type of a cell.
    NOTEBOOK_CELL_TYPE = "notebookCellType": String, Metadata, [CALLS];
    /// Names the kind of edit of a cell.
    NOTEBOOK_EDIT_MODE = "notebookEditMode": String, Metadata, [CALLS];
    /// Lists path and operation of the files that a command or patch touches.
    FILE_OPERATIONS = "fileOperations": List, Metadata, [CALLS];
    /// Lists the files that a patch, an edit or a command changed, with operation, size and changed lines.
    FILE_CHANGES = "fileChanges": List, Metadata, [CALLS];
    /// Counts the files of a patch.
    FILE_COUNT = "fileCount": Integer(Items), Metadata, [CALLS];
    /// Measures a patch.
    PATCH_BYTES = "patchBytes": Integer(Bytes), Metadata, [CALLS];
    /// Counts the lines of a patch.
    PATCH_LINES = "patchLines": Integer(Lines), Metadata, [CALLS];
    /// Holds the pattern or query of a search.
    SEARCH_PATTERN = "searchPattern": Text, Actions, [CALLS];
    /// Holds the path that a search is limited to.
    SEARCH_PATH = "searchPath": String, Metadata, [CALLS];
    /// Holds the pattern of file names that a search is limited to.
    SEARCH_GLOB = "searchGlob": String, Metadata, [CALLS];
    /// Names the file type that a search is limited to.
    SEARCH_TYPE = "searchType": String, Metadata, [CALLS];
    /// Limits the results of a search for tools.
    SEARCH_LIMIT = "searchLimit": Integer(Items), Metadata, [CALLS];
    /// Names the form of the result: content, files_with_matches or count.
    GREP_OUTPUT_MODE = "grepOutputMode": String, Metadata, [CALLS];
    /// Marks a search that ignores case.
    GREP_CASE_INSENSITIVE = "grepCaseInsensitive": Boolean, Metadata, [CALLS];
    /// Marks a search whose pattern may span lines.
    GREP_MULTILINE = "grepMultiline": Boolean, Metadata, [CALLS];
    /// Limits the lines of a search's result.
    GREP_HEAD_LIMIT = "grepHeadLimit": Integer(Lines), Metadata, [CALLS];
    /// Names the operation of a language server.
    LSP_OPERATION = "lspOperation": String, Metadata, [CALLS];
    /// Names the symbol that a language server is asked for.
    LSP_SYMBOL = "lspSymbol": String, Metadata, [CALLS];
    /// Numbers the line that a language server is asked for.
    LSP_LINE = "lspLine": Integer(LineNumber), Metadata, [CALLS];
    /// Numbers the column that a language server is asked for.
    LSP_COLUMN = "lspColumn": Integer(ColumnNumber), Metadata, [CALLS];
    /// Names the change of a watched file: change, add or unlink.
    CHANGE_TYPE = "changeType": String, Metadata, [FILE_CHANGED];
}
