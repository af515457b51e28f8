import test from 'ava'
import { paths, read } from './tree.ts'

const states = ['holds', 'does not apply', 'missing'] as const

type Line = { number: string; level: number; state: string; reason: string }

const page = read('docs/security-review.md')
const [tables = '', list = ''] = page.split('## Gaps')
const lines = linesIn(tables)
const known = new Set(paths)

/** How many requirements of level 1 or 2 each section of ASVS 5.0.0 has, or their numbers where some are of level 3. */
const sections: Readonly<Record<string, number | readonly number[]>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2 },
  ...{ '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2 },
  ...{ '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3 },
  ...{ '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5, '6.6': 3, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2 },
  ...{ '8.1': 2, '8.2': 3, '8.3': 1, '8.4': 1 },
  ...{ '9.1': 3, '9.2': 4 },
  ...{ '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11, '10.5': 5, '10.6': 2, '10.7': 3 },
  ...{ '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1 },
  ...{ '12.1': 3, '12.2': 2, '12.3': 4 },
  ...{ '13.1': [1], '13.2': 5, '13.3': 2, '13.4': 5 },
  ...{ '14.1': 2, '14.2': 4, '14.3': 3 },
  ...{ '15.1': 3, '15.2': 3, '15.3': 7 },
  ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3 },
  ...{ '17.1': [1], '17.2': 4, '17.3': 2 },
}

test('every requirement of levels 1 and 2 is in the review once, in their order', t => {
  const expected = Object.entries(sections).flatMap(([section, numbers]) =>
    (typeof numbers === 'number'
      ? Array.from({ length: numbers }, (_, index) => index + 1)
      : numbers
    ).map(number => `${section}.${number}`),
  )
  t.is(expected.length, 253)
  t.deepEqual(
    lines.map(({ number }) => number),
    expected,
  )
  const ofLevel = (level: number) => lines.filter(line => line.level === level).length
  t.deepEqual([ofLevel(1), ofLevel(2)], [70, 183], 'the sizes of the levels')
})

test('a requirement has one of three states, and a reason', t => {
  t.deepEqual(lines.filter(line => faultOf(line) !== null).map(faultOf), [])
  const good = '| 1.2.3 | 1 | A subject | holds | `test/architecture/tree.ts`: so |'
  t.deepEqual(linesIn(good).map(faultOf), [null])
  for (const [was, is] of [
    ['holds', 'holds partly'],
    ['`test/architecture/tree.ts`: so', 'the code'],
    ['`test/architecture/tree.ts`: so', '`test/architecture/gone.test.ts`'],
    ['`test/architecture/tree.ts`: so', ''],
  ] as const)
    t.truthy(linesIn(good.replace(was, is)).map(faultOf)[0], is)
})

test('the summary counts the lines, and the list at the end names each missing one once', t => {
  const count = (level: number | null, state: string | null) =>
    lines.filter(
      line => (level === null || line.level === level) && (state === null || line.state === state),
    ).length
  for (const [title, level] of [
    ['level 1', 1],
    ['level 2', 2],
    ['both', null],
  ] as const) {
    const counts = [...states, null].map(state => count(level, state))
    t.true(page.includes(`\n| ${title} | ${counts.join(' | ')} |\n`), `${title}: ${counts}`)
  }
  const missing = lines.filter(({ state }) => state === 'missing').map(({ number }) => number)
  t.deepEqual((list.match(/\b\d+\.\d+\.\d+\b/g) ?? []).sort(), missing.sort())
})

/** The fault of a line; null if there is none. */
function faultOf({ number, state, reason }: Line): string | null {
  if (!states.some(one => one === state)) return `${number}: no such state: ${state}`
  const named = (reason.match(/`[\w./-]+\/[\w.-]+\.(ts|py)`/g) ?? []).map(one => one.slice(1, -1))
  const gone = named.filter(path => !known.has(path))
  if (gone.length > 0) return `${number}: no such file: ${gone}`
  if (state === 'holds' && !named.some(path => path.startsWith('test/')))
    return `${number} holds, and no test shows it`
  return reason === '' ? `${number}: no reason` : null
}

function linesIn(text: string): Line[] {
  return [...text.matchAll(/^\| (\d+\.\d+\.\d+) \| ([12]) \| [^|]+ \| ([^|]*) \| (.*)\|$/gm)].map(
    ([, number = '', level, state = '', reason = '']) => ({
      number,
      level: Number(level),
      state,
      reason: reason.trim(),
    }),
  )
}
