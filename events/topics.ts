import type { Topic } from '../platform/log/topic.ts'

const counts = {
  /** One partition: decisions keep one total order, which audit and replay rely on (ADR 2). */
  decisions: { partitions: 1, retentionDays: null },
  metrics: { partitions: 4, retentionDays: 30 },
  logs: { partitions: 2, retentionDays: 30 },
}

export type TopicName = keyof typeof counts
export type Topics = Record<TopicName, Topic>

/** The topics of Forge; their names get the installation's prefix in front. */
export function topicsOf(prefix: string): Topics {
  const topic = (name: TopicName): Topic => ({ name: `${prefix}.${name}`, ...counts[name] })
  return {
    decisions: topic('decisions'),
    metrics: topic('metrics'),
    logs: topic('logs'),
  }
}
