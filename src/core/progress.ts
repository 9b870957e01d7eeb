/** Progress of a long task, to display. */
type Progress = { readonly what: string; readonly done: number; readonly of: number }
export type OnProgress = (progress: Progress) => void
