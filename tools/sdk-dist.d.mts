export function compileSdk(): void
