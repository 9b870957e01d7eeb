/** How far long work has come, for whoever watches. */
export type Progress = { readonly what: string; readonly done: number; readonly of: number }
export type OnProgress = (progress: Progress) => void
