export function Page() {
  return <h1>Compare</h1>
}
