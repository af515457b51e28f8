/** Reports the progress of a backup or a restore to a person. */
export type Progress = {
  /** A new part of the work has begun, of so many bytes if known. */
  phase(text: string, totalBytes?: number): void
  add(bytes: number): void
  end(): void
}

export const silent: Progress = { phase() {}, add() {}, end() {} }

type Screen = { isTTY?: boolean; write(text: string): unknown }

/** How often a line is rewritten on a terminal, and written elsewhere, in milliseconds. */
const everyMs = { terminal: 200, file: 15_000 }

/** One line that changes on a terminal; elsewhere a line for each part, and one now and then. */
export function progressOn(screen: Screen, nowMs: () => number): Progress {
  let [text, total, done, shownAt] = ['', 0, 0, 0]
  const line = () => (total > 0 ? `${text}: ${sizeText(done)} of ${sizeText(total)}` : text)
  const show = () => {
    shownAt = nowMs()
    screen.write(screen.isTTY ? `\r\x1b[K${line()}` : `${line()}\n`)
  }
  return {
    phase(next, totalBytes = 0) {
      ;[text, total, done] = [next, totalBytes, 0]
      show()
    },
    add(bytes) {
      done += bytes
      if (nowMs() - shownAt >= (screen.isTTY ? everyMs.terminal : everyMs.file)) show()
    },
    end() {
      if (screen.isTTY) screen.write('\r\x1b[K')
    },
  }
}

/** `1.5 GiB` */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${units[power]}`
}
