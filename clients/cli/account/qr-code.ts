import { generate } from 'lean-qr'

/** White around the code, in modules, without which readers do not find it. */
const margin = 2
const white = '\u001b[47m\u001b[30m'
const reset = '\u001b[0m'

/** The lines of a QR code, two rows of modules in each, in black on white whatever the colours of the terminal are. */
export function qrCode(text: string): string[] {
  const code = generate(text)
  const cells = Array.from({ length: code.size + 2 * margin }, (_, at) => at - margin)
  const cellAt = (x: number, y: number) =>
    `${code.get(x, y) ? 1 : 0}${code.get(x, y + 1) ? 1 : 0}` as keyof typeof halves
  return cells
    .filter((_, row) => row % 2 === 0)
    .map(y => `${white}${cells.map(x => halves[cellAt(x, y)]).join('')}${reset}`)
}

/** By whether the upper and the lower module are black. */
const halves = { '00': ' ', '01': '▄', '10': '▀', '11': '█' } as const
