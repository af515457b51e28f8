/** `rest`: its other fields, such as calls of tools; null if there are none. */
export type Message = { role: string; content: unknown; rest: object | null }

/** The messages of a conversation; null for any other value. */
export function messagesIn(value: unknown): Message[] | null {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isMessage)) return null
  return value.map(({ role, content, ...others }) => ({
    role,
    content,
    rest: Object.keys(others).length === 0 ? null : others,
  }))
}

const isMessage = (value: unknown): value is { role: string; content?: unknown } =>
  typeof value === 'object' && value !== null && 'role' in value && typeof value.role === 'string'

/** The text of a message, which may be a list of parts; other parts become JSON. */
export function textOf(content: unknown): string {
  if (content === null || content === undefined) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content, null, 2)
  return content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string'
        ? part.text
        : JSON.stringify(part, null, 2),
    )
    .join('\n')
}
