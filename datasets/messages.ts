import { isRecord } from './json-line.ts'

const roles = ['system', 'developer', 'user', 'assistant', 'tool']
/** What other formats call them. */
const otherRoles: Record<string, string> = {
  human: 'user',
  prompter: 'user',
  gpt: 'assistant',
  bot: 'assistant',
  model: 'assistant',
  chatgpt: 'assistant',
  function: 'tool',
  observation: 'tool',
}

/** Describes the first fault in a list of messages, with its place, or returns null. */
export function messagesFault(field: string, messages: unknown): string | null {
  if (!Array.isArray(messages))
    return `${field} must be a list of messages {"role", "content"}, not ${nameOf(messages)}`
  if (messages.length === 0) return `${field} has no message`
  const calls = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const fault = messageFault(message, calls)
    if (fault !== null) return `${field}[${index}]${fault}`
  }
  return null
}

/** A model learns to write the last message. */
export function endFault(field: string, messages: unknown[]): string | null {
  const last = messages.at(-1)
  const role = isRecord(last) ? last.role : null
  return role === 'assistant'
    ? null
    : `the last message of ${field} must be from the assistant, not from ${role}: add the answer, or use the kind prompt`
}

function messageFault(message: unknown, calls: Set<string>): string | null {
  if (!isRecord(message)) return ` must be an object {"role", "content"}, not ${nameOf(message)}`
  const { role, content } = message
  if (role === undefined || role === null)
    return 'from' in message
      ? ' has "from" and "value": rename them to "role" and "content"'
      : ' has no role: use system, user, assistant or tool'
  if (typeof role !== 'string' || !roles.includes(role)) return roleFault(role)
  const toolCalls = message.tool_calls ?? null
  if (toolCalls !== null) return toolCallsFault(role, toolCalls, calls) ?? textFault(content, true)
  if (role === 'tool') return toolFault(message, calls) ?? textFault(content, false)
  return textFault(content, false)
}

function roleFault(role: unknown): string {
  const known = typeof role === 'string' ? otherRoles[role.toLowerCase()] : undefined
  const own = typeof role === 'string' && roles.includes(role.toLowerCase()) && role.toLowerCase()
  const advice = known ?? own
  return `.role is ${short(role)}: ${advice ? `write ${advice}` : 'use system, user, assistant or tool'}`
}

function textFault(content: unknown, mayLack: boolean): string | null {
  if (content === undefined || content === null)
    return mayLack ? null : `.content is missing: write the text of the message`
  if (typeof content === 'string') return stringFault('.content', content, mayLack)
  if (!Array.isArray(content))
    return `.content must be text or a list of parts, not ${nameOf(content)}`
  if (content.length === 0) return mayLack ? null : '.content is empty'
  for (const [index, part] of content.entries()) {
    const fault = partFault(part)
    if (fault !== null) return `.content[${index}]${fault}`
  }
  return null
}

function partFault(part: unknown): string | null {
  if (!isRecord(part)) return ` must be an object {"type", "text"}, not ${nameOf(part)}`
  if (typeof part.type !== 'string') return ' has no type: write "type": "text"'
  if (part.type !== 'text') return null
  if (typeof part.text !== 'string') return `.text must be text, not ${nameOf(part.text)}`
  return stringFault('.text', part.text, false)
}

/** Describes the fault of a text in a row, or returns null. */
export function stringFault(field: string, text: string, mayBeEmpty: boolean): string | null {
  if (!mayBeEmpty && text.trim() === '') return `${field} is empty: write a text, or remove the row`
  if (!text.isWellFormed())
    return `${field} has half of a character (a lone surrogate such as \\ud83d): write the whole character`
  return null
}

function toolCallsFault(role: string, toolCalls: unknown, calls: Set<string>): string | null {
  if (!Array.isArray(toolCalls)) return `.tool_calls must be a list, not ${nameOf(toolCalls)}`
  if (toolCalls.length === 0) return null
  if (role !== 'assistant') return `.tool_calls: only the assistant calls tools, not ${role}`
  for (const [index, call] of toolCalls.entries()) {
    const fault = toolCallFault(call)
    if (fault !== null) return `.tool_calls[${index}]${fault}`
    if (isRecord(call) && typeof call.id === 'string') calls.add(call.id)
  }
  calls.add('')
  return null
}

function toolCallFault(call: unknown): string | null {
  if (!isRecord(call)) return ` must be an object {"function"}, not ${nameOf(call)}`
  const called = isRecord(call.function) ? call.function : call
  if (typeof called.name !== 'string' || called.name === '')
    return '.function.name is missing: name the tool'
  const given = called.arguments ?? null
  if (given === null || isRecord(given)) return null
  if (typeof given !== 'string')
    return `.function.arguments must be an object, or its JSON as text, not ${nameOf(given)}`
  try {
    if (isRecord(JSON.parse(given))) return null
  } catch {}
  return '.function.arguments is not the JSON of an object'
}

/** `calls` also holds the empty text once a tool was called, with or without an id. */
function toolFault(message: Record<string, unknown>, calls: Set<string>): string | null {
  if (calls.size === 0)
    return ' is from a tool, but no assistant before it has tool_calls: add the call, or remove the message'
  const id = message.tool_call_id ?? null
  if (id === null) return null
  if (typeof id === 'string' && calls.has(id) && id !== '') return null
  return `.tool_call_id is ${short(id)}, which no call before it has`
}

/** A value in a message about it. */
export function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof InvalidText) return 'text that is not UTF-8'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** Stands for bytes of a table that are not UTF-8. */
export class InvalidText {}
