/** The part of stdout that a screen uses. */
export type Tty = {
  write(text: string): unknown
  columns?: number
  rows?: number
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

export type Screen = {
  draw(lines: readonly string[]): void
  width(): number
  height(): number
  /** Restores the terminal. Inline drawings stay; a full screen is replaced by the previous content. */
  close(): void
}

const csi = '\u001b['
const hideCursor = `${csi}?25l`
const showCursor = `${csi}?25h`
/** Synchronized update: supporting terminals show the frame at once, others ignore it. */
const beginFrame = `${csi}?2026h`
const endFrame = `${csi}?2026l`
const alternate = { on: `${csi}?1049h`, off: `${csi}?1049l` }

/** A region that is redrawn in place; only changed lines are sent. */
export function openScreen(tty: Tty, mode: 'inline' | 'full'): Screen {
  let shown: readonly string[] = []
  const width = () => tty.columns || 80
  const height = () => tty.rows || 24
  const resized = () => {
    // Lines wrapped by the new width can no longer be counted: restart on a cleared screen.
    tty.write(`${csi}2J${csi}H`)
    shown = []
  }
  tty.on('resize', resized)
  tty.write(hideCursor + (mode === 'full' ? `${alternate.on}${csi}H` : ''))

  return {
    width,
    // Inline, the last line stays free: writing into it would scroll the region away.
    height: () => (mode === 'full' ? height() : height() - 1),
    draw(lines) {
      const frame = frameOf(shown, lines)
      if (frame !== '') tty.write(beginFrame + frame + endFrame)
      shown = lines
    },
    close() {
      tty.off('resize', resized)
      if (mode === 'full') tty.write(alternate.off)
      else if (shown.length > 0) tty.write('\r\n')
      tty.write(showCursor)
    },
  }
}

/**
 * The control sequences that turn one frame into the next. The cursor stays at the end of the last line, so
 * that moving up by the number of lines reaches the first one, wherever the region is on the terminal.
 */
export function frameOf(before: readonly string[], after: readonly string[]): string {
  const isSame = before.length === after.length && after.every((line, at) => line === before[at])
  if (isSame) return ''
  const up = before.length > 1 ? `${csi}${before.length - 1}A` : ''
  const shrinks = before.length > after.length
  // Erase before writing: after a line of full width, erasing would remove its last character.
  const lines = after.map((line, at) =>
    line === before[at] && !(shrinks && at === after.length - 1) ? '' : `${csi}2K${line}`,
  )
  const gone = shrinks ? `\r\n${csi}J${csi}A` : ''
  return `\r${up}${lines.join('\r\n')}${gone}`
}
