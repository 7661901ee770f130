// Takes the place of the MathJax 2 that thebe would load: the page has its own MathJax.
