-- sha256(text) -> hex digest, FIPS 180-4. The store only brings SHA-1.
local band, bxor, ror, shr, tobit = bit.band, bit.bxor, bit.ror, bit.rshift, bit.tobit

local ROUND = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
local WORDS = '>' .. string.rep('I4', 16)

local function compress(H, text, at)
  local W = { struct.unpack(WORDS, text, at) }
  for i = 17, 64 do
    local x, y = W[i - 15], W[i - 2]
    W[i] = tobit(W[i - 16] + bxor(ror(x, 7), ror(x, 18), shr(x, 3))
      + W[i - 7] + bxor(ror(y, 17), ror(y, 19), shr(y, 10)))
  end
  local a, b, c, d, e, f, g, h = unpack(H)
  for i = 1, 64 do
    local one = h + bxor(ror(e, 6), ror(e, 11), ror(e, 25)) + bxor(g, band(e, bxor(f, g)))
      + ROUND[i] + W[i]
    local two = bxor(ror(a, 2), ror(a, 13), ror(a, 22)) + bxor(band(a, bxor(b, c)), band(b, c))
    h, g, f, e, d, c, b, a = g, f, e, tobit(d + one), c, b, a, tobit(one + two)
  end
  local added = { a, b, c, d, e, f, g, h }
  for i = 1, 8 do H[i] = tobit(H[i] + added[i]) end
end

local function sha256(text)
  local H = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
  }
  local zeros = string.rep('\0', (55 - #text) % 64)
  local padded = text .. '\128' .. zeros .. struct.pack('>I8', #text * 8)
  for at = 1, #padded, 64 do compress(H, padded, at) end
  for i = 1, 8 do H[i] = bit.tohex(H[i]) end
  return table.concat(H)
end
