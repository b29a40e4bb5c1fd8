"""What is written, as it is read out: numbers, times, units and signs in words, and nothing of the rest.

markup     what is only for the eye: Markdown, links, code, thinking
reading    one text in one language
numbers    numerals in words
times      times of day and dates
units      quantities and money
words      what a language needs for that, from `languages`
"""
