import { isUtf8 } from 'node:buffer'
import { parseJson } from '../../platform/http/json.ts'
import { Refusal } from '../../platform/refusal.ts'
import { commitInput, type HubCommit, maxOperations } from '../../schemas/hub-facade.ts'
import { checker, Invalid } from '../../schemas/validate.ts'

const check = checker(commitInput, 'body')

/** Reads a commit whose header and operations have a line each; refuses too many before any is parsed. */
export function parseCommitLines(bytes: Buffer): HubCommit {
  if (!isUtf8(bytes))
    throw new Refusal('invalid', 'The body is not valid UTF-8', { code: 'body.not_utf8' })
  const lines = linesOf(bytes)
  const parsed = lines.map((line, index) => parseLine(line, index + 1))
  const headers = parsed.filter(({ key }) => key === 'header')
  if (headers.length !== 1)
    throw new Refusal('invalid', `A commit has one line with the key header, not ${headers.length}`)
  const operations = parsed.filter(({ key }) => key !== 'header')
  const checked = check({ header: headers[0]?.value, operations })
  if (!checked.ok) throw new Invalid(checked.errors)
  return checked.value as HubCommit
}

function linesOf(bytes: Buffer): string[] {
  const lines: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from)
    const line = bytes
      .subarray(from, end < 0 ? bytes.length : end)
      .toString()
      .trim()
    from = end < 0 ? bytes.length : end + 1
    if (line === '') continue
    if (lines.length > maxOperations)
      throw new Refusal('too_large', `A commit has at most ${maxOperations} operations`, {
        data: { limit: maxOperations },
      })
    lines.push(line)
  }
  return lines
}

type Line = { key: unknown; value: unknown }

function parseLine(line: string, number: number): Line {
  const value = parseJson(line, false)
  if (typeof value !== 'object' || value === null || !('key' in value))
    throw new Refusal('invalid', `Line ${number} is not an object with key and value`)
  return { value: null, ...value }
}
