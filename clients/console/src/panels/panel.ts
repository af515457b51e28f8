import { panelLimits } from '../../../../schemas/panel-limits.ts'
import type { Panel } from '../../../../schemas/workspace.ts'

export type Kind = Panel['kind']
export type PanelOf<K extends Kind> = Extract<Panel, { kind: K }>

/** Panels in the format of the address; undefined for none. */
export const panelsText = (panels: readonly Panel[]): string | undefined =>
  panels.length === 0 ? undefined : JSON.stringify(panels)

/** The panels that the address names. Invalid ones are ignored, e.g. in an address that was cut off. */
export function panelsFrom(text: string | undefined): Panel[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    const all: unknown[] = Array.isArray(parsed) ? parsed : []
    return all.slice(0, panelLimits.panels).flatMap(one => panelFrom(one) ?? [])
  } catch {
    return []
  }
}

type Fields = Readonly<Record<string, unknown>>

function panelFrom(value: unknown): Panel | null {
  if (typeof value !== 'object' || value === null) return null
  const fields = value as Fields
  const own = ownFields(fields)
  return own && { ...own, ...commonFields(fields) }
}

function ownFields(fields: Fields): Panel | null {
  const { kind, x, y, metric, text } = fields
  const [keys, axes] = [textsOf(fields.keys), textsOf(fields.axes)]
  if (kind === 'line' && keys.length > 0) return { kind, keys, ...lineFields(fields) }
  if (kind === 'scatter' && isName(x) && isName(y))
    return { kind, x, y, ...colourOf(fields), ...logsOf(fields) }
  if ((kind === 'bar' || kind === 'importance') && isName(metric)) return { kind, metric }
  if (kind === 'parallel' && axes.length > 1) return { kind, axes, ...colourOf(fields) }
  if (kind === 'note' && typeof text === 'string')
    return { kind, text: text.slice(0, panelLimits.note) }
  return null
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 300
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter(isName).slice(0, panelLimits.keys) : []
const isNumber = (value: unknown): value is number => Number.isFinite(value)

const colourOf = ({ colour }: Fields) => (isName(colour) ? { colour } : {})
const logsOf = ({ logX, logY }: Fields) => ({
  ...(logX === true && { logX }),
  ...(logY === true && { logY }),
})

function lineFields(fields: Fields): Partial<PanelOf<'line'>> {
  const { x, over, low, high, smooth, filter } = fields
  return {
    ...((x === 'step' || x === 'relative' || x === 'time') && { x }),
    ...(isName(over) && { over }),
    ...logsOf(fields),
    ...(isNumber(low) && { low }),
    ...(isNumber(high) && { high }),
    ...(isNumber(smooth) && smooth >= 0 && smooth < 1 && { smooth }),
    ...((filter === 'gaussian' || filter === 'exponential') && { filter }),
  }
}

function commonFields({ title, w, h }: Fields) {
  return {
    ...(isName(title) && { title: title.slice(0, 200) }),
    ...(isNumber(w) && { w: clamped(w, 2, panelLimits.columns) }),
    ...(isNumber(h) && { h: clamped(h, 1, panelLimits.rows) }),
  }
}

export const clamped = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, Math.round(value)))

/** Servers take addresses of 16 KiB in all. */
const mostInAddress = 8_000

/** Whether the address has no room for another panel. */
export const isFull = (panels: readonly Panel[]): boolean =>
  panels.length >= panelLimits.panels ||
  encodeURIComponent(panelsText(panels) ?? '').length > mostInAddress

/** Columns and rows of a panel, unless somebody resized it. */
export const sizeOf = ({ kind, w, h }: Panel): { w: number; h: number } => ({
  w: w ?? (kind === 'parallel' ? panelLimits.columns : 3),
  h: h ?? 1,
})

/** The panels with one of them at another place. */
export function moved<T>(all: readonly T[], from: number, to: number): T[] {
  const rest = all.filter((_, nth) => nth !== from)
  return [...rest.slice(0, to), ...all.slice(from, from + 1), ...rest.slice(to)]
}
