/** What the pages are built with, and the server fills in. */

/** Stands for the address of the server; whoever reads a page sees that of the server it came from. */
export const PLACEHOLDER = 'http://127.0.0.1:8080'

/** On the page of the search: what was looked for, and what was found. */
export const QUERY_MARK = '%query%'
export const RESULTS_MARK = '<!--results-->'
