"""Writes the images beside it, and what Pillow decodes them to (as .rgb, raw bytes).

    python make.py        (Pillow 10 or later, NumPy)
"""

import numpy as np
from PIL import Image

y, x = np.mgrid[0:20, 0:24]
colour = np.stack([x * 10, y * 12, 255 - 5 * (x + y)], -1).clip(0, 255).astype(np.uint8)
grey = colour.mean(-1).astype(np.uint8)
images = {
    "baseline.jpg": (Image.fromarray(colour), dict(quality=95, subsampling=0)),
    "subsampled.jpg": (Image.fromarray(colour), dict(quality=90, subsampling=2)),
    "progressive.jpg": (Image.fromarray(colour), dict(quality=95, progressive=True, subsampling=0)),
    "grey.jpg": (Image.fromarray(grey), dict(quality=95)),
    "cmyk.jpg": (Image.fromarray(colour).convert("CMYK"), dict(quality=95)),
    "grey.png": (Image.fromarray(grey), {}),
    "palette.png": (Image.fromarray(colour).quantize(16), {}),
    "alpha.png": (Image.fromarray(np.concatenate([colour, grey[..., None]], -1)), {}),
    "deep.png": (Image.fromarray(grey.astype(np.uint16) * 257), {}),
}
for name, (image, options) in images.items():
    image.save(name, **options)
    decoded = Image.open(name)
    if name == "deep.png":  # Pillow would clip 16 bits to 8
        decoded = Image.fromarray(grey)
    open(name.replace(".", "-") + ".rgb", "wb").write(np.asarray(decoded.convert("RGB")).tobytes())
