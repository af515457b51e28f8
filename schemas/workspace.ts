import { type Static, Type } from 'typebox'
import { panelLimits } from './panel-limits.ts'
import { closed, namePattern, oneOf } from './shared.ts'

const key = () => Type.String({ minLength: 1, maxLength: 256 })
/** `hparams.<key>`, or of a metric `<key>:last`, `<key>:min` or `<key>:max`. */
const axis = () => Type.String({ minLength: 1, maxLength: 300 })
const finite = () => Type.Number({ minimum: -1e300, maximum: 1e300 })

const common = {
  title: Type.Optional(Type.String({ maxLength: 200, pattern: namePattern })),
  /** How many columns it spans, and how many rows. */
  w: Type.Optional(Type.Integer({ minimum: 2, maximum: panelLimits.columns })),
  h: Type.Optional(Type.Integer({ minimum: 1, maximum: panelLimits.rows })),
}
const logs = { logX: Type.Optional(Type.Boolean()), logY: Type.Optional(Type.Boolean()) }

export const panel = Type.Union([
  /** Curves. Absent settings are those of all charts. */
  closed({
    kind: Type.Literal('line'),
    keys: Type.Array(key(), { minItems: 1, maxItems: panelLimits.keys }),
    x: Type.Optional(oneOf('step', 'relative', 'time')),
    /** Another metric as the axis. */
    over: Type.Optional(key()),
    ...logs,
    low: Type.Optional(finite()),
    high: Type.Optional(finite()),
    smooth: Type.Optional(Type.Number({ minimum: 0, maximum: 0.99 })),
    filter: Type.Optional(oneOf('exponential', 'gaussian')),
    ...common,
  }),
  closed({
    kind: Type.Literal('scatter'),
    x: axis(),
    y: axis(),
    colour: Type.Optional(axis()),
    ...logs,
    ...common,
  }),
  closed({ kind: Type.Literal('bar'), metric: axis(), ...common }),
  closed({
    kind: Type.Literal('parallel'),
    axes: Type.Array(axis(), { minItems: 2, maxItems: panelLimits.keys }),
    colour: Type.Optional(axis()),
    ...common,
  }),
  closed({ kind: Type.Literal('importance'), metric: axis(), ...common }),
  closed({
    kind: Type.Literal('note'),
    text: Type.String({ maxLength: panelLimits.note }),
    ...common,
  }),
])
export type Panel = Static<typeof panel>

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/** What a workspace shows: the parameters of its address as text, and its own panels. */
export const workspaceState = closed({
  q: text(1_000),
  runs: text(14_000),
  sort: text(300),
  cols: text(10_000),
  group: text(300),
  band: text(10),
  off: text(20_000),
  keys: text(1_000),
  x: text(10),
  smooth: text(10),
  filter: text(20),
  log: text(1),
  range: text(100),
  panels: Type.Optional(Type.Array(panel, { maxItems: panelLimits.panels })),
})
export type WorkspaceState = Static<typeof workspaceState>
