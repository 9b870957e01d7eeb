/** What must be undone at the end, the newest first. */
export type Closing = (() => Promise<unknown>)[]

/** Undoes everything. What cannot be undone is told, and the rest goes on. */
export async function closeAll(closing: Closing, tell: (text: string) => void): Promise<void> {
  for (const close of closing.splice(0).reverse())
    await close().catch((error: Error) => tell(`cleaning up: ${error.message}`))
}
