export type DeadLetterTables = {
  dead_letter: {
    topic: string
    partition: number
    offset: number
    key: string
    error: string
    value: Buffer
  }
}
