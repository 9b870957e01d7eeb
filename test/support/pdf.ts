import { getDocumentProxy } from 'unpdf'

/** A piece of text on a page, in points from the lower left corner. */
export type PdfText = {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
}

export type PdfPage = { readonly width: number; readonly height: number; readonly texts: readonly PdfText[] }

export type Pdf = {
  readonly pages: readonly PdfPage[]
  /** All text in the order in which it is drawn, one space between pieces. */
  readonly text: string
  readonly links: readonly string[]
  readonly info: Readonly<Record<string, unknown>>
}

/** An item of PDF.js: a text, or a mark without one. */
type Item = { readonly str?: string; readonly transform: readonly number[]; readonly width: number }

/** Reads a PDF as a stranger does: with PDF.js, which knows nothing of how it was drawn. */
export async function readPdf(bytes: Uint8Array): Promise<Pdf> {
  // PDF.js takes the buffer away from its caller.
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const pages: PdfPage[] = []
  const links: string[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { width, height } = page.getViewport({ scale: 1 })
    const { items } = await page.getTextContent()
    const texts = (items as Item[]).flatMap((item) =>
      item.str !== undefined && item.str.trim() !== ''
        ? [{ text: item.str, x: item.transform[4]!, y: item.transform[5]!, width: item.width }]
        : [],
    )
    pages.push({ width, height, texts })
    for (const { url } of await page.getAnnotations()) if (url) links.push(url)
  }
  const { info } = await document.getMetadata()
  const text = pages.flatMap(({ texts }) => texts.map((each) => each.text)).join(' ')
  return { pages, text, links, info: info as Record<string, unknown> }
}
