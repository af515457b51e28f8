import test from 'ava'
import fc from 'fast-check'
import { frameOf } from '../../../../clients/cli/terminal/screen.ts'

const columns = 10

/** The parts of a terminal that frames use: a full line wraps only when more text follows. */
function terminal() {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  const erase: Record<string, () => void> = {
    '2K': () => {
      lines[row] = ''
    },
    J: () => {
      lines[row] = (lines[row] ?? '').slice(0, column)
      lines.length = row + 1
    },
  }
  const control = (sequence: string) => {
    const [, count, letter] = /^(\d*)([A-Z])$/.exec(sequence) ?? []
    if (letter === 'A') row -= Number(count || 1)
    else erase[sequence]?.()
  }
  const moves: Record<string, () => void> = {
    '\r': () => {
      column = 0
    },
    '\n': () => {
      row += 1
      lines[row] ??= ''
    },
  }
  const print = (character: string) => {
    lines[row] = `${(lines[row] ?? '').padEnd(column).slice(0, column)}${character}`
    column += 1
  }
  return {
    lines,
    write(text: string) {
      const [plain = '', ...escaped] = text.split('\u001b[')
      const show = (part: string) => {
        for (const character of part) (moves[character] ?? (() => print(character)))()
      }
      show(plain)
      for (const part of escaped) {
        const [, sequence = '', rest = ''] = /^(\d*[A-Z])(.*)$/s.exec(part) ?? []
        control(sequence)
        show(rest)
      }
    },
  }
}

test('after any frames the terminal shows the last one and nothing else', t => {
  const line = fc.stringMatching(/^[a-c]{0,10}$/)
  const frame = fc.array(line, { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 8 }), frames => {
      const screen = terminal()
      let before: string[] = []
      for (const after of frames) {
        screen.write(frameOf(before, after))
        const shown = screen.lines.slice(0, after.length)
        t.deepEqual(shown, after)
        t.is(screen.lines.slice(after.length).join(''), '')
        before = after
      }
      t.true(screen.lines.every(text => text.length <= columns))
    }),
    { numRuns: 500 },
  )
})

test('an unchanged frame writes nothing, a changed line only itself', t => {
  t.is(frameOf(['a', 'b'], ['a', 'b']), '')
  t.is(frameOf(['a', 'b', 'c'], ['a', 'x', 'c']), '\r\u001b[2A\r\n\u001b[2Kx\r\n')
})
