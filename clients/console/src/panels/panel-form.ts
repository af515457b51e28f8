import type { Panel } from '../../../../schemas/workspace.ts'
import { type Kind, panelsFrom } from './panel.ts'

const axes = ['step', 'relative', 'time']

/** The panel that a form describes, as large as the panel `before`; null if the form is incomplete. */
export function panelFromForm(kind: Kind, form: FormData, before: Panel | null): Panel | null {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const lines = (name: string) =>
    [
      ...new Set(
        text(name)
          .split('\n')
          .map(one => one.trim()),
      ),
    ].filter(one => one !== '')
  const number = (name: string) => (text(name) === '' ? undefined : Number(text(name)))
  const x = text('x')
  const isOver = kind === 'line' && x !== '' && !axes.includes(x)
  const [panel] = panelsFrom(
    JSON.stringify([
      {
        ...{ kind, keys: lines('keys'), axes: lines('axes'), metric: text('metric') },
        ...{ text: text('text'), y: text('y'), colour: text('colour'), title: text('title') },
        ...(isOver ? { over: x } : { x }),
        ...{ logX: form.has('logX'), logY: form.has('logY') },
        ...{ low: number('low'), high: number('high'), smooth: number('smooth') },
        // `like` is no filter and is dropped, so that the panel follows the other charts.
        filter: text('filter'),
        ...(before && { w: before.w, h: before.h }),
      },
    ]),
  )
  return panel ?? null
}
