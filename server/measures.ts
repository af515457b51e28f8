import { Counter, type Registry } from 'prom-client'

export type Measures = { ingestedPoints: Counter; deadLetters: Counter; duties: Counter }

/** Forge's own metrics, except request metrics. */
export const measuresIn = (registry: Registry): Measures => ({
  ingestedPoints: new Counter({
    name: 'forge_ingested_points_total',
    help: 'Metric points acknowledged.',
    registers: [registry],
  }),
  deadLetters: new Counter({
    name: 'forge_dead_letters_total',
    help: 'Fact records parked because they could not be applied.',
    labelNames: ['topic'],
    registers: [registry],
  }),
  duties: new Counter({
    name: 'forge_duties_total',
    help: 'Attempts to perform a duty, by how they ended.',
    labelNames: ['reactor', 'result'],
    registers: [registry],
  }),
})
