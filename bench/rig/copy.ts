import type { Client, Submittable } from 'pg'

/** The part of pg's connection that COPY needs; only documented by its use in pg-copy-streams. */
type CopyConnection = {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Sends `rows`, already in the statement's format; resolves when they are committed. */
export function copyBinary(client: Client, statement: string, rows: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: Error | null = null
    const copy = {
      submit: (connection: CopyConnection) => connection.query(statement),
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(rows)
        connection.endCopyFrom()
      },
      handleError(error: Error) {
        failure = error
        reject(error)
      },
      handleCommandComplete() {},
      handleReadyForQuery() {
        if (!failure) resolve()
      },
    }
    client.query(copy as unknown as Submittable)
  })
}
