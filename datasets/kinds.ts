import { isRecord } from './json-line.ts'
import { endFault, messagesFault, nameOf, stringFault } from './messages.ts'
import type { Kind } from './report.ts'

type Fields = Record<string, unknown>

/** The fields by which each kind is recognised, in this order: a preference may have a prompt. */
const fieldsOf: Record<Kind, readonly string[]> = {
  preference: ['chosen', 'rejected'],
  chat: ['messages'],
  prompt: ['prompt'],
  text: ['text'],
}

const has = (row: Fields, field: string) => row[field] !== undefined && row[field] !== null

/** Null if the row has the fields of no kind. */
export function kindOf(row: Fields): Kind | null {
  const kinds = Object.keys(fieldsOf) as Kind[]
  return kinds.find(kind => fieldsOf[kind].every(field => has(row, field))) ?? null
}

/** Why no kind can be recognised by these fields. */
export function noKind(fields: readonly string[]): string {
  const wanted =
    'name a field messages (chat), chosen and rejected (preference), prompt (prompt) or text (text)'
  const found = fields.length === 0 ? 'there are none' : `found ${listed(fields)}`
  for (const [field, advice] of others) if (fields.includes(field)) return `${wanted}; ${advice}`
  return `${wanted}; ${found}`
}

/** Fields of other formats. */
const others: readonly [string, string][] = [
  [
    'conversations',
    'rename conversations to messages, with role and content instead of from and value',
  ],
  ['instruction', 'turn instruction and output into two messages, from user and assistant'],
  ['chosen', 'rejected is missing'],
  ['rejected', 'chosen is missing'],
  ['content', 'rename content to text'],
]

/** Describes the first fault of a row of this kind, or returns null. */
export function rowFault(kind: Kind, row: Fields): string | null {
  for (const field of fieldsOf[kind]) if (!has(row, field)) return missing(kind, field, row)
  return checks[kind](row)
}

function missing(kind: Kind, field: string, row: Fields): string {
  const other = kindOf(row)
  if (other !== null && other !== kind)
    return `this row is of the kind ${other}, but the dataset is ${kind}: put it in a dataset of its own`
  if (field in row) return `${field} is null: write a value, or remove the row`
  return `a row of the kind ${kind} needs the field ${field}; this one has ${listed(Object.keys(row))}`
}

const checks: Record<Kind, (row: Fields) => string | null> = {
  chat: row => conversation('messages', row.messages) ?? toolsFault(row.tools),
  preference,
  prompt: row => promptFault(row.prompt),
  text: row =>
    typeof row.text === 'string'
      ? stringFault('text', row.text, false)
      : `text must be text, not ${nameOf(row.text)}`,
}

function preference(row: Fields): string | null {
  const { chosen, rejected } = row
  const fault =
    answerFault('chosen', chosen) ??
    answerFault('rejected', rejected) ??
    (has(row, 'prompt') ? promptFault(row.prompt) : null)
  if (fault !== null) return fault
  if (typeof chosen !== typeof rejected)
    return 'chosen and rejected must both be text, or both be lists of messages'
  return JSON.stringify(chosen) === JSON.stringify(rejected)
    ? 'chosen and rejected are the same: there is nothing to prefer'
    : null
}

const answerFault = (field: string, answer: unknown) =>
  typeof answer === 'string' ? stringFault(field, answer, false) : conversation(field, answer)

const conversation = (field: string, messages: unknown): string | null =>
  messagesFault(field, messages) ?? endFault(field, messages as unknown[])

function promptFault(prompt: unknown): string | null {
  if (typeof prompt === 'string') return stringFault('prompt', prompt, false)
  return Array.isArray(prompt)
    ? messagesFault('prompt', prompt)
    : `prompt must be text or a list of messages, not ${nameOf(prompt)}`
}

function toolsFault(tools: unknown): string | null {
  if (tools === undefined || tools === null) return null
  if (!Array.isArray(tools)) return `tools must be a list, not ${nameOf(tools)}`
  const at = tools.findIndex(tool => !isRecord(tool))
  return at === -1 ? null : `tools[${at}] must be an object, not ${nameOf(tools[at])}`
}

const listed = (fields: readonly string[]) =>
  fields.length > 8
    ? `${fields.slice(0, 8).join(', ')} and ${fields.length - 8} more`
    : fields.join(', ')

/**
 * Calls `visit` for the texts of a row: `isText` for what a model reads or writes, otherwise for what also tells two
 * rows apart, such as roles.
 */
export function eachText(
  kind: Kind,
  row: Fields,
  visit: (text: string, isText: boolean) => void,
): void {
  for (const field of contents[kind]) {
    const value = row[field]
    visit(field, false)
    if (typeof value === 'string') visit(value, true)
    else if (Array.isArray(value)) for (const message of value) messageTexts(message, visit)
  }
}

const contents: Record<Kind, readonly string[]> = {
  chat: ['messages'],
  preference: ['prompt', 'chosen', 'rejected'],
  prompt: ['prompt'],
  text: ['text'],
}

function messageTexts(message: Fields, visit: (text: string, isText: boolean) => void): void {
  const { role, content, tool_calls: calls } = message
  visit(String(role), false)
  if (typeof content === 'string') visit(content, true)
  else if (Array.isArray(content))
    for (const part of content)
      if (part.type === 'text') visit(part.text, true)
      else visit(JSON.stringify(part), false)
  if (Array.isArray(calls) && calls.length > 0) visit(JSON.stringify(calls), true)
}
