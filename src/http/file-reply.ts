/** A response that is a file. The bytes are made only if the client does not have them already. */
export class FileReply {
  readonly type: string
  readonly filename: string
  /** A strong entity tag, in quotes. */
  readonly etag: string
  readonly read: () => Promise<Uint8Array>

  constructor(file: Pick<FileReply, 'type' | 'filename' | 'etag' | 'read'>) {
    this.type = file.type
    this.filename = file.filename
    this.etag = file.etag
    this.read = file.read
  }
}

/** A file to be sent; without bytes if the client has them. */
export class ReadFile {
  readonly file: FileReply
  readonly bytes: Uint8Array | undefined
  constructor(file: FileReply, bytes: Uint8Array | undefined) {
    this.file = file
    this.bytes = bytes
  }
}

/** Reads the file unless `If-None-Match` names it (RFC 9110, section 13.1.2: weak comparison, and `*` stands for any). */
export async function readUnlessKnown(file: FileReply, if_none_match: string | undefined): Promise<ReadFile> {
  const known = (if_none_match ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  const is_known = known.includes('*') || known.includes(file.etag)
  return new ReadFile(file, is_known ? undefined : await file.read())
}
