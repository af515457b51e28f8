import { rowFault } from '../../datasets/kinds.ts'
import type { CapturedContent } from '../../schemas/captured.ts'

type Fields = Record<string, unknown>

/** The deepest arguments of a tool. */
const maxDepth = 32

/** A captured request with its response as a row of the kind chat; null unless it is a conversation in text. */
export function conversationOf(content: CapturedContent): { messages: Fields[] } | null {
  const asked = parsed(content.request)
  const answer = asked && (content.is_stream ? streamed(content.response) : whole(content.response))
  const before = asked && promptOf(asked)
  if (!before || !answer) return null
  const row = { messages: [...before, answer] }
  return rowFault('chat', row) === null ? row : null
}

function promptOf({ messages, prompt }: Fields): Fields[] | null {
  const [only] = Array.isArray(prompt) && prompt.length === 1 ? prompt : [prompt]
  if (typeof only === 'string') return [{ role: 'user', content: clean(only) }]
  if (!Array.isArray(messages)) return null
  const read = messages.map(messageOf)
  return read.length > 0 && read.every(message => message !== null) ? read : null
}

/** Its text and its calls of tools; null if it has other content, such as images. */
function messageOf(message: unknown): Fields | null {
  if (!isFields(message) || typeof message.role !== 'string') return null
  const text = textOf(message.content)
  const calls = message.tool_calls === undefined ? undefined : callsOf(message.tool_calls)
  if (text === undefined || calls === null) return null
  const { tool_call_id, name } = message
  return {
    role: message.role,
    content: text,
    ...(calls && calls.length > 0 && { tool_calls: calls }),
    ...(typeof tool_call_id === 'string' && { tool_call_id: clean(tool_call_id) }),
    ...(typeof name === 'string' && { name: clean(name) }),
  }
}

/** Undefined if it is not only text; null if there is none. */
function textOf(content: unknown): string | null | undefined {
  if (content === null || content === undefined) return null
  if (typeof content === 'string') return clean(content)
  if (!Array.isArray(content)) return undefined
  const texts = content.map(part =>
    isFields(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : undefined,
  )
  return texts.every(text => text !== undefined) ? clean(texts.join('')) : undefined
}

/** Null if one of them is no call of a function. */
function callsOf(calls: unknown): Fields[] | null {
  if (calls === null) return []
  if (!Array.isArray(calls)) return null
  const read = calls.map(callOf)
  return read.every(call => call !== null) ? read : null
}

function callOf(call: unknown): Fields | null {
  if (!isFields(call) || !isFields(call.function)) return null
  const { name, arguments: text } = call.function
  const given = typeof text === 'string' ? parsed(text || '{}') : null
  if (typeof name !== 'string' || given === null || depthOf(given) > maxDepth) return null
  return {
    ...(typeof call.id === 'string' && { id: clean(call.id) }),
    type: 'function',
    function: { name: clean(name), arguments: given },
  }
}

/** Only the first of several answers. */
function whole(text: string): Fields | null {
  const choice = firstOf(parsed(text)?.choices)
  if (!choice) return null
  if (typeof choice.text === 'string') return { role: 'assistant', content: clean(choice.text) }
  return isFields(choice.message) ? messageOf({ ...choice.message, role: 'assistant' }) : null
}

type Call = { id: string; name: string; arguments: string }

/** Puts the pieces of a stream together; null if it was cut off before its end. */
function streamed(text: string): Fields | null {
  const data = text.split(/\r?\n/).flatMap(line => /^data:(.*)$/.exec(line)?.[1]?.trim() ?? [])
  const choices = data.map(one => firstOf(parsed(one)?.choices)).filter(choice => choice !== null)
  const isComplete =
    data.includes('[DONE]') || choices.some(one => typeof one.finish_reason === 'string')
  if (!isComplete) return null
  const deltas = choices.map(({ delta }) => (isFields(delta) ? delta : {}))
  const texts = [...choices.map(one => piece(one.text)), ...deltas.map(one => piece(one.content))]
  const content = texts.join('')
  const calls = new Map<number, Call>()
  for (const call of deltas.flatMap(one => (Array.isArray(one.tool_calls) ? one.tool_calls : [])))
    addTo(calls, call)
  const tool_calls = [...calls]
    .sort(([one], [other]) => one - other)
    .map(([, { id, ...called }]) => ({ ...(id !== '' && { id }), function: called }))
  return messageOf({
    role: 'assistant',
    content: content === '' && tool_calls.length > 0 ? null : content,
    ...(tool_calls.length > 0 && { tool_calls }),
  })
}

function addTo(calls: Map<number, Call>, call: unknown): void {
  if (!isFields(call)) return
  const index = typeof call.index === 'number' ? call.index : 0
  const known = calls.get(index) ?? { id: '', name: '', arguments: '' }
  const called = isFields(call.function) ? call.function : {}
  calls.set(index, {
    id: known.id || piece(call.id),
    name: known.name + piece(called.name),
    arguments: known.arguments + piece(called.arguments),
  })
}

const piece = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The choice with the index 0, or without one. */
const firstOf = (choices: unknown): Fields | null =>
  (Array.isArray(choices)
    ? choices.find(choice => isFields(choice) && (choice.index ?? 0) === 0)
    : null) ?? null

function parsed(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : null
  } catch {
    return null
  }
}

function depthOf(value: unknown): number {
  let depth = 0
  for (let level: unknown[] = [value]; level.length > 0 && depth <= maxDepth; depth++)
    level = level.flatMap(one => (isObject(one) ? Object.values(one) : []))
  return depth
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const isFields = (value: unknown): value is Fields => isObject(value) && !Array.isArray(value)

/** Datasets have neither NUL nor halves of characters. */
const clean = (text: string): string => text.replaceAll('\0', '').toWellFormed()
