import { byInterest } from '../../../../schemas/metrics/interest.ts'
import { amount, duration } from '../../terminal/amounts.ts'
import { toJson } from '../../terminal/harmless.ts'
import { openScreen, type Tty } from '../../terminal/screen.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { oneLine } from '../../terminal/width.ts'
import { marked } from '../marked.ts'
import { type Picture, secondsInto } from './picture.ts'
import type { RunEvent } from './run-events.ts'
import { paintState, runView } from './view.ts'

/** Shows a followed run. */
export type Presenter = {
  /** Called after each event has been applied to the picture. */
  see(event: RunEvent, picture: Picture): void
  close(picture: Picture): void
}

type LiveOptions = {
  terminal: Terminal
  tty: Tty
  mode: 'inline' | 'full'
  picture: Picture
  keys: readonly string[]
  /** Text of the bottom line. */
  footer: (picture: Picture) => string
  nowMs: () => number
}

/** Time between frames; `most` is how often the clock is redrawn without other changes. */
const frameMs = { least: 80, most: 500 }

/** Redraws the whole view in place on changes, at a limited rate. */
export function livePresenter(options: LiveOptions): Presenter {
  const { terminal, tty, mode, picture, keys, footer, nowMs } = options
  const screen = openScreen(tty, mode)
  let drawnMs = 0
  const draw = (last = false) => {
    drawnMs = nowMs()
    const size = { width: screen.width(), height: screen.height() }
    const view = {
      ...size,
      nowMs: drawnMs,
      paint: terminal.paint,
      keys,
      footer: last ? '' : footer(picture),
    }
    const lines = runView(picture, view)
    screen.draw(last ? withoutBlankEnd(lines.slice(0, -1)) : lines)
  }
  const clock = setInterval(() => draw(), frameMs.most)
  let soon: NodeJS.Timeout | undefined
  draw()
  return {
    see() {
      soon ??= setTimeout(
        () => {
          soon = undefined
          draw()
        },
        Math.max(0, drawnMs + frameMs.least - nowMs()),
      )
    },
    close() {
      clearInterval(clock)
      clearTimeout(soon)
      draw(true)
      screen.close()
    },
  }
}

const withoutBlankEnd = (lines: readonly string[]) =>
  lines.slice(0, lines.findLastIndex(line => line !== '') + 1)

/** How often plain output prints the metrics, in milliseconds. */
const metricsEveryMs = 5000

/** For pipes and files: one line per state change and log line, metrics at intervals. */
export function plainPresenter(terminal: Terminal, nowMs: () => number): Presenter {
  const { paint } = terminal
  let stagesSaid = 0
  let metricsMs = nowMs()
  let hasNews = false
  const say = (picture: Picture, atMs: number, text: string) => {
    const clock = duration(secondsInto(picture, atMs)).padStart(9)
    terminal.data(`${paint('dim', clock)}  ${text}`)
  }
  const sayStages = (picture: Picture) => {
    for (const [at, { state, sinceMs }] of picture.stages.entries())
      if (at >= stagesSaid)
        say(picture, sinceMs, stageText(picture, at, paintState(paint, state, state)))
    stagesSaid = picture.stages.length
  }
  const sayMetrics = (picture: Picture) => {
    hasNews = false
    metricsMs = nowMs()
    say(picture, picture.endedMs ?? metricsMs, metricsText(picture))
  }
  return {
    see(event, picture) {
      sayStages(picture)
      if (event.type === 'line') say(picture, event.line.ts, `| ${oneLine(marked(event.line))}`)
      if (event.type === 'points') hasNews = true
      if (hasNews && nowMs() - metricsMs >= metricsEveryMs) sayMetrics(picture)
      if (event.type === 'gap' && event.reason !== null)
        terminal.note(`the ${event.stream} stream broke (${event.reason}); reconnecting`)
    },
    close(picture) {
      if (hasNews) sayMetrics(picture)
    },
  }
}

/** `running  after 5.9 s starting` */
function stageText({ stages, reason }: Picture, at: number, state: string): string {
  const [before, stage] = [stages[at - 1], stages[at]]
  const why = reason && at === stages.length - 1 ? `  (${reason})` : ''
  if (!before || !stage) return `${state}${why}`
  const spent = duration(Math.max(0, stage.sinceMs - before.sinceMs) / 1000)
  return `${state}${why}  after ${spent} ${before.state}`
}

function metricsText({ metrics }: Picture): string {
  const keys = byInterest(metrics).slice(0, 4)
  const step = Math.max(...keys.map(key => metrics.get(key)?.last?.[0] ?? 0))
  const values = keys.map(key => `${key} ${amount(metrics.get(key)?.last?.[1] ?? Number.NaN)}`)
  return `metrics  step ${step}  ${values.join('  ')}`
}

/** For programs: one JSON object per line. `type` is state, log or points, and finally end. */
export function jsonPresenter(terminal: Terminal): Presenter {
  const say = (type: string, content: object) => terminal.data(toJson({ type, ...content }))
  return {
    see(event) {
      if (event.type === 'state') say('state', event.frame)
      if (event.type === 'line') say('log', event.line)
      if (event.type === 'points') say('points', event.frame)
    },
    close() {},
  }
}
