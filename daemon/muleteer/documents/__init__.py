"""The files of a household: found by name and text, and read.

folders   listing and opening below a configured folder, never outside of it
text      the text of a file by its kind; runs in a process of its own (`reader`), held by `child`
index     the tables, and the search
watch     what changed on disk
keeper    keeps the index fresh, in the background
service   what tools are lent
"""
