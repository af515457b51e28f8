import { visit } from 'jsonc-parser'
import { Invalid } from '../../schemas/validate.ts'
import { Refusal } from '../refusal.ts'
import { maxDepth, tooDeep } from './json.ts'

const shownCharacters = 64

/**
 * Throws `invalid` if an object in a JSON text has two equal keys, however they are escaped. `JSON.parse` keeps the last
 * and other readers the first (RFC 8259, 4), so a proxy may have checked a value that Forge does not use.
 * The text must be valid JSON. Reads about 85 MB/s, a quarter of what `JSON.parse` does.
 */
export function refuseRepeatedKeys(text: string): void {
  const open: Set<string>[] = []
  let depth = 0
  // A value that a repeated key replaces was never checked, and the visitor calls itself for each level.
  const enter = () => {
    if (++depth > maxDepth) throw new Invalid([tooDeep(['body'])])
  }
  visit(text, {
    onObjectBegin() {
      enter()
      open.push(new Set())
    },
    onObjectProperty(key, _offset, _length, _line, _character, pathOf) {
      const keys = open.at(-1)
      if (keys?.has(key)) throw repeated(key, pathOf())
      keys?.add(key)
    },
    onObjectEnd() {
      open.pop()
      depth--
    },
    onArrayBegin: enter,
    onArrayEnd: () => void depth--,
  })
}

function repeated(key: string, path: readonly (string | number)[]): Refusal {
  const shown = key.length > shownCharacters ? `${key.slice(0, shownCharacters - 1)}…` : key
  return new Refusal(
    'invalid',
    `The body has the key ${JSON.stringify(shown)} twice in one object`,
    {
      code: 'body.repeated_key',
      data: { loc: ['body', ...path, shown] },
      hint: 'Send each key once',
    },
  )
}
