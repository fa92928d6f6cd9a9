const texts = import.meta.glob('./texts/*.json');

export async function hello(language) {
  const { default: known } = await texts[`./texts/${language}.json`]();
  return known.hello;
}
