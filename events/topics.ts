import type { Topic } from '../platform/log/topic.ts'

const counts = {
  /** One partition: decisions keep one total order, which audit and replay rely on (ADR 2). */
  decisions: { partitions: 1, keep: 'for ever' },
  metrics: { partitions: 4, keep: 'as set' },
  logs: { partitions: 2, keep: 'as set' },
  validation: { partitions: 2, keep: 'as set' },
  hardware: { partitions: 2, keep: 'as set' },
  traffic: { partitions: 2, keep: 'as set' },
} as const

export type TopicName = keyof typeof counts
export type Topics = Record<TopicName, Topic>

/** How long facts are kept on the log; the tables keep them forever. */
export type LogRetention = {
  days: number
  /** Size limit per topic; null: none. */
  maxBytes: number | null
}

const usual: LogRetention = { days: 30, maxBytes: null }

/** The topics of Forge; their names are prefixed with the installation's prefix. */
export function topicsOf(prefix: string, { days, maxBytes }: LogRetention = usual): Topics {
  const topic = (name: TopicName): Topic => {
    const { partitions, keep } = counts[name]
    const named = { name: `${prefix}.${name}`, partitions }
    if (keep === 'for ever') return { ...named, retentionDays: null }
    return { ...named, retentionDays: days, ...(maxBytes !== null && { maxBytes }) }
  }
  return {
    decisions: topic('decisions'),
    metrics: topic('metrics'),
    logs: topic('logs'),
    validation: topic('validation'),
    hardware: topic('hardware'),
    traffic: topic('traffic'),
  }
}
