/** The part of pdfkit and fontkit that receipts use: neither package has types. */
declare module 'fontkit' {
  export type Font = { hasGlyphForCodePoint(code_point: number): boolean }
  export function create(bytes: Uint8Array): Font
}

declare module 'pdfkit' {
  import type { Font } from 'fontkit'

  type DocumentOptions = {
    readonly size: 'A4'
    readonly margin: number
    readonly compress: boolean
    readonly pdfVersion: '1.7'
    readonly tagged: boolean
    readonly displayTitle: boolean
    readonly lang: string
    readonly info: Readonly<Record<string, string | Date>>
  }
  type TextOptions = { readonly lineBreak: false; readonly baseline: 'alphabetic' }

  export class PDFStructureElement {
    add(child: PDFStructureElement): this
    end(): this
  }
  export type StructureContent = { readonly structure_content: never }

  export class PDFDocument {
    constructor(options: DocumentOptions)
    addPage(): this
    registerFont(name: string, font: Font): this
    font(name: string): this
    fontSize(size: number): this
    widthOfString(text: string): number
    text(text: string, x: number, y: number, options: TextOptions): this
    link(x: number, y: number, width: number, height: number, url: string): this
    save(): this
    restore(): this
    translate(x: number, y: number): this
    scale(factor: number): this
    rotate(degrees: number, options: { readonly origin: readonly [number, number] }): this
    moveTo(x: number, y: number): this
    lineTo(x: number, y: number): this
    rect(x: number, y: number, width: number, height: number): this
    circle(x: number, y: number, radius: number): this
    path(svg: string): this
    lineWidth(width: number): this
    lineCap(cap: 'round'): this
    lineJoin(join: 'round'): this
    fillColor(colour: string): this
    strokeColor(colour: string): this
    fill(colour: string): this
    stroke(colour?: string): this
    struct(tag: string, content?: StructureContent): PDFStructureElement
    addStructure(element: PDFStructureElement): this
    markStructureContent(tag: string): StructureContent
    markContent(tag: 'Artifact', options: { readonly type: 'Layout' }): this
    endMarkedContent(): this
    end(): void
  }
}

declare module 'pdfkit/output' {
  import type { PDFDocument } from 'pdfkit'

  export function toBytes(document: PDFDocument): Promise<Uint8Array>
}
