/** Work in progress by key: callers that ask for the same key meanwhile share its outcome. */
export class UnderWay<O> {
  readonly #outcomes = new Map<string, Promise<O>>()

  has(key: string): boolean {
    return this.#outcomes.has(key)
  }

  share(key: string, begin: () => Promise<O>): Promise<O> {
    const shared = this.#outcomes.get(key)
    if (shared) return shared
    const outcome = begin()
    this.#outcomes.set(key, outcome)
    const done = () => this.#outcomes.delete(key)
    outcome.then(done, done)
    return outcome
  }
}
