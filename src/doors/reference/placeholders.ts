/** Placeholders in the built pages, which the server fills in. */

/** Replaced by the address of the server that sends the page. */
export const PLACEHOLDER = 'http://127.0.0.1:8080'

/** On the search page: the query and the results. */
export const QUERY_MARK = '%query%'
export const RESULTS_MARK = '<!--results-->'
