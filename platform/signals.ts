/** The message of each channel. */
type Channels = Record<string, object>
type ChannelOf<M> = keyof M & string

/** Wake-ups between the parts of an installation. A lost one costs time, never correctness. */
export type Signals<M> = {
  publish<C extends ChannelOf<M>>(channel: C, message: M[C]): void
  /** Returns a function that ends the subscription. */
  subscribe<C extends ChannelOf<M>>(channel: C, listener: (message: M[C]) => void): () => void
  close(): Promise<void>
}

export function inProcessSignals<M extends Channels>(): Signals<M> {
  type Listener = (message: object) => void
  const listeners = new Map<string, Set<Listener>>()
  return {
    publish(channel, message) {
      for (const listener of listeners.get(channel) ?? []) listener(message)
    },
    subscribe(channel, listener) {
      const others = listeners.get(channel) ?? new Set()
      listeners.set(channel, others.add(listener as Listener))
      return () => others.delete(listener as Listener)
    },
    async close() {
      listeners.clear()
    },
  }
}
